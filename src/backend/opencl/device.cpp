// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/device.hpp"

#include "backend/fork.hpp"
#include "backend/memory_limit.hpp"
#include "backend/opencl/queue.hpp"
#include "base/lasting.hpp"

#include <algorithm>
#include <csignal>

namespace tilewise::backend::opencl {

namespace {

/// A number that the device reports; 0 if it does not.
template <class T>
T device_number(cl_device_id device, cl_device_info what) {
  T value = 0;
  return cl().clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T(0);
}

device_info describe(cl_device_id device, const std::string& name) {
  device_info info;
  info.name = name;
  info.backend = "opencl";
  info.description = device_text(device, CL_DEVICE_NAME);
  info.platform = platform_text(device);
  info.driver = device_text(device, CL_DRIVER_VERSION);
  info.api_version = device_text(device, CL_DEVICE_VERSION);
  info.compute_units = device_number<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  if (info.platform == "NVIDIA CUDA") {
    constexpr cl_device_info major = 0x4000, minor = 0x4001;  // of cl_nv_device_attribute_query
    info.compute_capability = 10 * device_number<cl_uint>(device, major) + device_number<cl_uint>(device, minor);
  }
  info.max_clock_mhz = device_number<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  info.memory = limited_memory(device_number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
  info.max_allocation = limited_memory(device_number<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  info.cache = device_number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  info.local_memory = device_number<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.max_group_size = device_number<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  constexpr cl_device_info preferred_multiple = 0x1067;  // of OpenCL 3.0; older drivers leave it unknown
  info.group_multiple = device_number<std::size_t>(device, preferred_multiple);
  info.is_cpu = (device_number<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  info.fp64 = device_number<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  info.denormals = (device_number<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_DENORM) != 0;
  return info;
}

class opencl_device final : public backend::device {
 public:
  opencl_device(device_info info, cl_device_id id) : device(std::move(info)), id_(id) {}

 protected:
  std::unique_ptr<backend::queue> make_queue() override { return opencl::queue::open(*this, id_); }

 private:
  cl_device_id id_;
};

class borrowed_device final : public backend::device {
 public:
  borrowed_device(device_info info, cl_command_queue theirs) : device(std::move(info)), theirs_(theirs) {}

 protected:
  std::unique_ptr<backend::queue> make_queue() override { return opencl::queue::borrow(*this, theirs_); }

 private:
  cl_command_queue theirs_;
};

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;
  if (cl().clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_platform_id> all(count);
  if (cl().clGetPlatformIDs(count, all.data(), nullptr) != CL_SUCCESS) return {};
  return all;
}

/// Keeps the process's SIGFPE handler. PoCL installs one with which every integer division by zero in the process gives
/// some result instead of a signal.
class kept_division_signal {
 public:
  kept_division_signal() { sigaction(SIGFPE, nullptr, &before_); }
  ~kept_division_signal() { sigaction(SIGFPE, &before_, nullptr); }
  kept_division_signal(const kept_division_signal&) = delete;

 private:
  struct sigaction before_ {};
};

std::vector<cl_device_id> all_device_ids() {
  const kept_division_signal kept;
  std::vector<cl_device_id> all;
  for (cl_platform_id platform : platforms()) {
    cl_uint count = 0;
    if (cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
    std::vector<cl_device_id> here(count);
    if (cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, here.data(), nullptr) != CL_SUCCESS) continue;
    for (cl_device_id id : here)  // skips duplicates: two .icd files may name the same driver
      if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
  }
  return all;
}

struct listed_device {
  cl_device_id id;
  device_info facts;
};

/// Whether this process may use the drivers: not if it is a forked child of the process that used them first, since
/// they would wait for threads that the child does not have.
bool drivers_are_here() {
  static process_bound drivers;
  return drivers.is_here();
}

/// The list of devices, made once: drivers fail if two threads list their devices for the first time at once. An empty
/// list is not kept.
std::vector<listed_device> listed() {
  using list = std::vector<listed_device>;
  static auto& found = base::lasting([] { return base::guarded<list>(); });
  return found.with([](list& all) {
    if (all.empty())
      for (cl_device_id id : all_device_ids())
        all.push_back({id, describe(id, "opencl:" + std::to_string(all.size()))});
    return all;
  });
}

}  // namespace

std::string device_text(cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  if (cl().clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return "";
  std::string text(bytes, '\0');
  if (cl().clGetDeviceInfo(device, what, bytes, text.data(), nullptr) != CL_SUCCESS) return "";
  return text.substr(0, text.find('\0'));
}

std::string platform_text(cl_device_id device) {
  cl_platform_id platform = nullptr;
  if (cl().clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr) != CL_SUCCESS) return "";
  std::size_t bytes = 0;
  if (cl().clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return "";
  std::string text(bytes, '\0');
  if (cl().clGetPlatformInfo(platform, CL_PLATFORM_NAME, bytes, text.data(), nullptr) != CL_SUCCESS) return "";
  return text.substr(0, text.find('\0'));
}

std::string lacks_packets(const device_info& facts) {
  if (facts.is_cpu && sizeof(void*) < 8) return "a packet needs atomic operations on 8 bytes";
  if (facts.is_cpu || facts.platform == "NVIDIA CUDA") return "";
  return "nothing is known of whether groups may wait for each other on " + facts.platform;
}

std::string too_large(const device_info& facts, unsigned group_size, std::uint64_t local_bytes) {
  if (facts.max_group_size != 0 && group_size > facts.max_group_size)
    return facts.name + " takes groups of at most " + std::to_string(facts.max_group_size) + " items, not " +
           std::to_string(group_size);
  if (facts.local_memory != 0 && local_bytes > facts.local_memory)
    return "a group needs " + std::to_string(local_bytes) + " bytes of local memory and " + facts.name + " has " +
           std::to_string(facts.local_memory);
  return "";
}

std::string too_large(const device_info& facts, unsigned group_size, local_room room) {
  if (facts.local_memory != 0 && room.bytes == facts.local_memory)
    return "a group needs all the local memory that " + facts.name + " reports, and its driver takes some for itself";
  return too_large(facts, group_size, room.bytes);
}

std::vector<std::shared_ptr<backend::device>> devices(std::string& why_none) {
  if (!drivers_are_here()) {
    why_none = used_before_fork("OpenCL") + ".";
    return {};
  }
  if (find_api(why_none) == nullptr) return {};
  std::vector<std::shared_ptr<backend::device>> all;
  for (const listed_device& d : listed()) all.push_back(std::make_shared<opencl_device>(d.facts, d.id));
  if (all.empty())
    why_none =
        "The OpenCL loader finds no device; install a driver, such as Debian's pocl-opencl-icd, or name the vendor's "
        "library in a file in /etc/OpenCL/vendors.";
  return all;
}

std::shared_ptr<backend::device> from_queue(void* queue) {
  if (queue == nullptr) throw error(errc::invalid_argument, "the cl_command_queue is null");
  if (!drivers_are_here()) throw error(errc::device_lost, used_before_fork("OpenCL"));
  const auto theirs = static_cast<cl_command_queue>(queue);
  cl_device_id id = nullptr;
  cl_command_queue_properties properties = 0;
  TW_CL(cl().clGetCommandQueueInfo(theirs, CL_QUEUE_DEVICE, sizeof id, &id, nullptr));
  TW_CL(cl().clGetCommandQueueInfo(theirs, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr));
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0)
    throw error(errc::invalid_argument, "the cl_command_queue runs out of order; make one without that property");
  std::string name = "opencl";
  for (const listed_device& d : listed())
    if (d.id == id) name = d.facts.name;
  return std::make_shared<borrowed_device>(describe(id, name), theirs);
}

}  // namespace tilewise::backend::opencl
