// SPDX-License-Identifier: Apache-2.0
// Devices: how to list them and open them by name. Each has one in-order queue.
#pragma once

#include <tilewise/export.hpp>
#include <tilewise/host_range.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise {

namespace backend {
class device;
struct memory;
}  // namespace backend
template <scalar T>
class array;

/// What a device says about itself. Sizes are in bytes; 0 or an empty string means "unknown".
struct device_info {
  std::string name;            ///< how to open it: "cpu:openmp", "opencl:0", "cuda:0", "openacc:0", "cuda:0+cuda:1"
  std::string backend;         ///< "cpu", "opencl", "cuda", "openacc" or "group"
  std::string description;     ///< the hardware's own name
  std::string platform;        ///< OpenCL's platform; the executor and instruction set on a CPU; OpenACC's compiler
  std::string driver;          ///< driver version
  std::string api_version;     ///< "OpenCL 3.0", "CUDA 13.0 (sm_90)"
  unsigned compute_units = 0;  ///< as the driver counts them; on a CPU, logical processors
  unsigned compute_capability = 0;   ///< CUDA: 90 for 9.0
  unsigned max_clock_mhz = 0;        ///< 0: unknown
  std::uint64_t memory = 0;          ///< bytes
  std::uint64_t max_allocation = 0;  ///< bytes, the largest single array
  std::uint64_t cache = 0;           ///< bytes, the last level
  std::uint64_t local_memory = 0;    ///< bytes, shared by one work-group
  std::uint64_t max_group_size = 0;  ///< work-items of one work-group
  std::uint64_t group_multiple = 0;  ///< a work-group's size is best a multiple of this
  bool is_cpu = false;               ///< its processor is a CPU
  bool fp64 = false;                 ///< it computes with double
  bool denormals = true;             ///< it keeps f32 denormals; otherwise f32 results cannot follow the order
};

/// Which CPU resources a device may use.
struct open_options {
  unsigned threads = 0;              ///< CPU devices: worker threads; 0 means one per logical CPU
  std::string instruction_set = "";  ///< CPU devices: "v2", "v3" or "v4" (x86-64 levels); empty means the best one
};

/// Throws `invalid_argument`, which says that `what` was moved from and is empty.
[[noreturn]] TILEWISE_API void refuse_moved_from(const char* what);

/// A handle to one device and its in-order queue; copies refer to the same queue.
/// If the backend is asynchronous, calls on the device's arrays only enqueue work. Only one thread at a time may use a
/// queue. On a CPU device, any number of threads may make calls on host data at once.
class TILEWISE_API device {
 public:
  explicit device(std::shared_ptr<backend::device> implementation);

  const device_info& info() const;                         ///< its properties
  const std::string& name() const { return info().name; }  ///< the name that open() takes

  /// Copies host data to the device.
  template <class T>
  array<T> upload(std::span<const T> values) const;
  template <host_range Range>
  array<scalar_of<element_of<Range>>> upload(const Range& values) const {
    using T = scalar_of<element_of<Range>>;
    return upload(std::span(reinterpret_cast<const T*>(std::ranges::data(values)), std::ranges::size(values)));
  }

  /// An array of `count` elements with unspecified contents. Throws `out_of_memory`.
  template <class T>
  array<T> allocate(std::uint64_t count) const;

  /// Waits until all enqueued work on this device is done.
  void finish() const;

  backend::device& implementation() const {
    if (!implementation_) refuse_moved_from("device");
    return *implementation_;
  }
  const std::shared_ptr<backend::device>& shared() const { return implementation_; }

 private:
  std::shared_ptr<backend::device> implementation_;
};

/// All devices on this machine that the backends of this build find.
TILEWISE_API std::vector<device> devices();

/// Opens a device: "auto", "cpu", "cpu:serial|threads|openmp|tbb", "opencl:0", "cuda:0", or a backend with part of the
/// hardware's name, such as "opencl:NVIDIA". "auto" opens the device that TILEWISE_DEVICE names, else the first CUDA
/// device, else the first OpenCL device that is not a CPU, else "cpu". Throws `device_lost`, with similar names, if
/// there is no such device.
TILEWISE_API device open(std::string_view name = "auto", const open_options& options = {});

}  // namespace tilewise
