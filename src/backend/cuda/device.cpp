// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.hpp"

#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "backend/fork.hpp"
#include "backend/memory_limit.hpp"

#include <optional>

namespace tilewise::backend::cuda {

namespace {

constexpr int oldest_major = 8;  // CMAKE_CUDA_ARCHITECTURES begins with sm_80

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  TW_CUDA(cudaDeviceGetAttribute(&value, which, ordinal));
  return value;
}

std::string dotted(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

device_info describe(int ordinal) {
  cudaDeviceProp facts;
  TW_CUDA(cudaGetDeviceProperties(&facts, ordinal));
  int driver = 0, runtime = 0;
  TW_CUDA(cudaDriverGetVersion(&driver));
  TW_CUDA(cudaRuntimeGetVersion(&runtime));
  device_info info;
  info.name = "cuda:" + std::to_string(ordinal);
  info.backend = "cuda";
  info.description = facts.name;
  info.driver = "CUDA " + dotted(driver);
  info.compute_capability = static_cast<unsigned>(facts.major * 10 + facts.minor);
  info.api_version =
      "CUDA " + dotted(runtime) + " (sm_" + std::to_string(facts.major) + std::to_string(facts.minor) + ")";
  info.compute_units = static_cast<unsigned>(facts.multiProcessorCount);
  info.max_clock_mhz = static_cast<unsigned>(attribute(cudaDevAttrClockRate, ordinal)) / 1000;
  info.memory = info.max_allocation = limited_memory(facts.totalGlobalMem);
  info.cache = static_cast<std::uint64_t>(facts.l2CacheSize);
  info.local_memory = facts.sharedMemPerBlockOptin;
  info.max_group_size = static_cast<std::uint64_t>(facts.maxThreadsPerBlock);
  info.group_multiple = static_cast<std::uint64_t>(facts.warpSize);
  info.fp64 = true;
  return info;
}

class cuda_device final : public backend::device {
 public:
  cuda_device(int ordinal, std::optional<cudaStream_t> borrowed)
      : device(describe(ordinal)), ordinal_(ordinal), borrowed_(borrowed) {}
  int ordinal() const { return ordinal_; }

 protected:
  std::unique_ptr<backend::queue> make_queue() override {
    if (borrowed_) return std::make_unique<cuda::queue>(*this, ordinal_, *borrowed_);
    return std::make_unique<cuda::queue>(*this, ordinal_);
  }

 private:
  int ordinal_;
  std::optional<cudaStream_t> borrowed_;
};

/// The number of devices. 0, with the reason as a sentence, if there is no driver or device, if the driver is older
/// than this build's runtime, or in a forked child.
int count_devices(std::string& why_none) {
  static process_bound driver;
  if (!driver.is_here()) {
    why_none = used_before_fork("CUDA") + ".";
    return 0;
  }
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count;
  ignore(status);
  int runtime = 0;
  ignore(cudaRuntimeGetVersion(&runtime));
  if (status == cudaErrorInsufficientDriver)
    why_none = "The NVIDIA driver is missing or too old: this build needs one for CUDA " + dotted(runtime) + ".";
  else if (status == cudaErrorNoDevice)
    why_none = "The NVIDIA driver sees no CUDA device.";
  else
    why_none = std::string("CUDA cannot start: ") + cudaGetErrorString(status) + ".";
  return 0;
}

bool has_kernels_for(int ordinal, std::string& why_none) {
  if (attribute(cudaDevAttrComputeCapabilityMajor, ordinal) >= oldest_major) return true;
  why_none += "cuda:" + std::to_string(ordinal) +
              " is older than compute capability 8.0, the oldest that this build supports. ";
  return false;
}

}  // namespace

std::vector<std::shared_ptr<backend::device>> devices(std::string& why_none) {
  std::vector<std::shared_ptr<backend::device>> all;
  const int count = count_devices(why_none);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    try {
      if (has_kernels_for(ordinal, why_none)) all.push_back(std::make_shared<cuda_device>(ordinal, std::nullopt));
    } catch (const error& broken) {
      why_none += "cuda:" + std::to_string(ordinal) + " does not answer: " + broken.what() + ". ";
    }
  }
  return all;
}

std::array<char, 16> uuid_of(const backend::device& device) {
  cudaDeviceProp facts;
  TW_CUDA(cudaGetDeviceProperties(&facts, static_cast<const cuda_device&>(device).ordinal()));
  return std::to_array(facts.uuid.bytes);
}

std::shared_ptr<backend::device> from_stream(int ordinal, void* stream) {
  std::string why_none;
  const int count = count_devices(why_none);
  if (ordinal < 0 || ordinal >= count)
    throw error(errc::device_lost, "there is no CUDA device " + std::to_string(ordinal) + " of " +
                                       std::to_string(count) + ". " + why_none);
  if (!has_kernels_for(ordinal, why_none)) throw error(errc::unsupported, why_none);
  return std::make_shared<cuda_device>(ordinal, static_cast<cudaStream_t>(stream));
}

}  // namespace tilewise::backend::cuda
