// SPDX-License-Identifier: Apache-2.0
// What:   copies within a device.
// Order:  none; only data moves.
// Shape:  a kernel of our own on GPUs: NVIDIA's driver takes 16 us for a copy of 4 MB, a launch 6.
// Limits: the driver's where parts do not lie on 16-byte boundaries, and on CPUs.
// Twins:  none.
#include "backend/opencl/opencl_queue.hpp"
#include "base/ceil_div.hpp"

namespace tilewise::embedded {
extern const std::string_view copy_cl;
}

namespace tilewise::backend::opencl {

void queue::copy(memory to, memory from, std::uint64_t bytes) {
  if (bytes == 0) return;
  constexpr unsigned unit = 16, group = 256, in_flight = 4;
  if (device().info().is_cpu || (to.offset | from.offset | bytes) % unit != 0) {
    TW_CL(cl().clEnqueueCopyBuffer(commands_.get(), static_cast<cl_mem>(from.base), static_cast<cl_mem>(to.base),
                                   from.offset, to.offset, bytes, 0, nullptr, nullptr));
    return;
  }
  const cl_kernel kernel =
      program(embedded::copy_cl, "-DTW_GROUP=" + std::to_string(group) + " -DTW_FLIGHT=" + std::to_string(in_flight))
          .kernel("tw_copy");
  launch_tiles(kernel, ceil_div(bytes / unit, std::uint64_t{group} * in_flight), group, from, from.offset / unit, to,
               to.offset / unit, bytes / unit);
}

}  // namespace tilewise::backend::opencl
