// SPDX-License-Identifier: Apache-2.0
// What:   copies within a device.
// Order:  none; only data moves.
// Shape:  our own kernel on GPUs: NVIDIA's driver takes 16 us for a copy of 4 MB, a launch takes 6. Many rows need one
//         launch, whereas the driver has one command per row.
// Limits: the driver copies if ranges are not aligned to 16 bytes, on CPUs, and on devices that cannot run groups of
//         this size.
// Twins:  none.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"

namespace tilewise::embedded {
extern const std::string_view copy_cl;
}

namespace tilewise::backend::opencl {

namespace {

constexpr unsigned group = 256, in_flight = 4;

bool takes_kernel(const device_info& on) { return too_large(on, group, 0).empty(); }

}  // namespace

cl_kernel queue::copy_kernel(const char* name) {
  return program(embedded::copy_cl, "-DTW_GROUP=" + std::to_string(group) + " -DTW_FLIGHT=" + std::to_string(in_flight))
      .kernel(name);
}

void queue::copy(memory to, memory from, std::uint64_t bytes) {
  if (bytes == 0) return;
  constexpr unsigned unit = 16;
  if (device().info().is_cpu || !takes_kernel(device().info()) || (to.offset | from.offset | bytes) % unit != 0) {
    TW_CL(cl().clEnqueueCopyBuffer(commands_.get(), static_cast<cl_mem>(from.base), static_cast<cl_mem>(to.base),
                                   from.offset, to.offset, bytes, 0, nullptr, nullptr));
    return;
  }
  launch_tiles(copy_kernel("tw_copy"), ceil_div(bytes / unit, std::uint64_t{group} * in_flight), group, from,
               from.offset / unit, to, to.offset / unit, bytes / unit);
}

void queue::copy_rows(memory to, std::uint64_t to_stride, memory from, std::uint64_t from_stride, std::uint64_t width,
                      std::uint64_t rows) {
  constexpr unsigned unit = 4;
  constexpr std::uint64_t few = 16;
  if (width == to_stride && width == from_stride) return copy(to, from, width * rows);
  if (width == 0 || rows <= few || !takes_kernel(device().info()) ||
      (to.offset | to_stride | from.offset | from_stride | width) % unit != 0)
    return backend::queue::copy_rows(to, to_stride, from, from_stride, width, rows);
  const std::uint64_t units = rows * (width / unit);
  launch_tiles(copy_kernel("tw_copy_rows"), ceil_div(units, std::uint64_t{group}), group, from, from.offset / unit,
               from_stride / unit, to, to.offset / unit, to_stride / unit, width / unit, units);
}

}  // namespace tilewise::backend::opencl
