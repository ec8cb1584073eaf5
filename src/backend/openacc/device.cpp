// SPDX-License-Identifier: Apache-2.0
#include "backend/openacc/device.hpp"

#include "backend/cpu/device.hpp"
#include "backend/fork.hpp"
#include "backend/memory_limit.hpp"
#include "backend/openacc/queue.hpp"

#include <array>

#include <dlfcn.h>

namespace tilewise::backend::openacc {

namespace {

/// Calls a function of NVIDIA's driver; false if it fails or is missing. libgomp can also report a GPU's properties,
/// but only after it has created a context and translated all kernels.
template <class... Arguments>
bool driver_call(const char* name, Arguments... arguments) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return false;
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(driver, name));
  return function != nullptr && function(arguments...) == 0;
}

constexpr int oldest_major = 8;  // cmake/openacc.cmake builds the kernels for sm_80

/// Whether the GPU can run the kernels of this build. Checked first, since libgomp ends the process if it cannot load
/// them.
bool has_kernels_for(int ordinal) {
  constexpr int compute_capability_major = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  int device = 0, major = 0;
  return driver_call("cuInit", 0u) && driver_call("cuDeviceGet", &device, ordinal) &&
         driver_call("cuDeviceGetAttribute", &major, compute_capability_major, device) && major >= oldest_major;
}

device_info describe_gpu(int ordinal) {
  int device = 0, version = 0;
  std::array<char, 256> name{};
  std::size_t bytes = 0;
  driver_call("cuInit", 0u);
  driver_call("cuDriverGetVersion", &version);
  if (driver_call("cuDeviceGet", &device, ordinal)) {
    driver_call("cuDeviceGetName", name.data(), static_cast<int>(name.size()), device);
    driver_call("cuDeviceTotalMem_v2", &bytes, device);
  }
  device_info info;
  info.name = "openacc:" + std::to_string(ordinal);
  info.backend = "openacc";
  info.description = name.data();
  info.platform = "OpenACC of GCC";
  info.driver = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  info.memory = info.max_allocation = limited_memory(bytes);
  info.fp64 = true;
  return info;
}

std::string why_no_gpu(bool has_kernels, int gpus) {
  if (!has_kernels) return "this build was made without GCC's compiler for NVIDIA GPUs";
  if (gpus == 0) return "libgomp finds no NVIDIA GPU or lacks its plugin for them";
  return "no NVIDIA GPU here has compute capability 8.0 or newer, which this build needs";
}

device_info describe_host(const std::string& why_no_gpu) {
  device_info info = cpu::make_device("cpu:serial", {})->info();
  info.name = "openacc:0";
  info.memory = info.max_allocation = limited_memory(info.memory);
  info.backend = "openacc";
  info.platform = "OpenACC of GCC on the host, 1 thread: " + why_no_gpu;
  return info;
}

/// Makes the context of CUDA's runtime current before libgomp starts, so that libgomp uses that one. Otherwise it would
/// create its own context, but later find the runtime's current when it runs kernels.
void share_context(int ordinal) {
  int device = 0;
  void* context = nullptr;
  if (driver_call("cuInit", 0u) && driver_call("cuDeviceGet", &device, ordinal) &&
      driver_call("cuDevicePrimaryCtxRetain", &context, device))
    driver_call("cuCtxSetCurrent", context);
}

class openacc_device final : public backend::device {
 public:
  openacc_device(device_info info, acc_device_t type, int ordinal)
      : device(std::move(info)), type_(type), ordinal_(ordinal) {}

 protected:
  std::unique_ptr<backend::queue> make_queue() override {
    if (type_ == acc_device_nvidia) share_context(ordinal_);
    return std::make_unique<openacc::queue>(*this, type_, ordinal_);
  }

 private:
  acc_device_t type_;
  int ordinal_;
};

}  // namespace

std::vector<std::shared_ptr<backend::device>> devices(std::string& why_none) {
  static process_bound runtime;
  if (!runtime.is_here()) {
    why_none = used_before_fork("OpenACC") + ".";
    return {};
  }
  if (find_get_property() == nullptr) {
    why_none =
        "This process has loaded a libgomp older than that of GCC 10, without OpenACC 2.6, before tilewise, as "
        "PyTorch's wheels bring one; load tilewise first.";
    return {};
  }
  std::vector<std::shared_ptr<backend::device>> all;
  constexpr bool has_kernels = TILEWISE_OPENACC_OFFLOAD;
  const int count = has_kernels ? acc_get_num_devices(acc_device_nvidia) : 0;
  for (int ordinal = 0; ordinal < count; ++ordinal)
    if (has_kernels_for(ordinal))
      all.push_back(std::make_shared<openacc_device>(describe_gpu(ordinal), acc_device_nvidia, ordinal));
  if (all.empty())
    all.push_back(std::make_shared<openacc_device>(describe_host(why_no_gpu(has_kernels, count)), acc_device_host, 0));
  return all;
}

}  // namespace tilewise::backend::openacc
