// SPDX-License-Identifier: Apache-2.0
#include "backend/roofs.hpp"

#include "backend/opencl/queue.hpp"

#include <algorithm>

namespace tilewise::embedded {
extern const std::string_view fma_cl;
extern const std::string_view read_cl;
}  // namespace tilewise::embedded

namespace tilewise::backend::opencl {

namespace {

double run_chains(queue& on, dtype type, bool fused) {
  const device_info& info = on.device().info();
  if (type == dtype::f64 && !info.fp64) return 0;
  constexpr unsigned vector_bytes = 64, vectors = 6;
  // One work-item keeps a CPU core busy. A GPU's unit needs several groups of a hundred or more.
  const unsigned group_size = info.is_cpu ? 1 : 128, groups_a_unit = info.is_cpu ? 128 : 16, steps = 2048;
  const std::uint64_t groups = std::max(1u, info.compute_units) * groups_a_unit;
  const bool is_float = type == dtype::f32 || type == dtype::f64;
  const std::string scalar = is_float             ? (size_of(type) == 8 ? "double" : "float")
                             : size_of(type) == 8 ? "ulong"
                                                  : "uint";
  const std::string options = "-DTW_T=" + scalar + " -DTW_CHAIN=" + scalar +
                              std::to_string(vector_bytes / size_of(type)) + (is_float && fused ? " -DTW_FUSED" : "");
  const buffer sums(on, vector_bytes);
  with_type(type, [&]<class T>(T) {
    on.launch_tiles(on.program(embedded::fma_cl, options).kernel("tw_multiply_add"), groups, group_size, memory(sums),
                    base::scalar_value::of(static_cast<T>(0.5)), base::scalar_value::of(T{3}), steps, 0u);
  });
  return 2.0 * static_cast<double>(groups) * group_size * steps * vectors *
         static_cast<double>(vector_bytes / size_of(type));
}

}  // namespace

double queue::multiply_add(dtype type) { return run_chains(*this, type, true); }

double multiply_then_add(backend::queue& on, dtype type) { return run_chains(static_cast<queue&>(on), type, false); }

namespace {

/// One work-item per CPU core; on a GPU enough groups to hide the latency of loads.
struct read_shape {
  unsigned groups, group_size, vector_bytes;
  std::uint64_t items() const { return std::uint64_t{groups} * group_size; }
};

read_shape shape_on(const device_info& info) {
  const unsigned units = std::max(1u, info.compute_units);
  return info.is_cpu ? read_shape{units, 1, 64} : read_shape{units * 8, 256, 16};
}

cl_kernel reading_kernel(queue& on) {
  return on
      .program(embedded::read_cl, on.device().info().is_cpu ? "-DTW_VECTOR=ulong8 -DTW_OWN_PART" : "-DTW_VECTOR=uint4")
      .kernel("tw_read_again");
}

}  // namespace

double read(backend::queue& on, memory what) {
  auto& here = static_cast<queue&>(on);
  const device_info& info = here.device().info();
  const read_shape shape = shape_on(info);
  const std::uint64_t items = shape.items(), bytes_a_call = info.is_cpu ? (16 << 20) * items : std::uint64_t{1} << 30;
  const std::uint64_t vectors = what.bytes / shape.vector_bytes,
                      passes = std::max<std::uint64_t>(1, bytes_a_call / what.bytes);
  const buffer never(here, shape.vector_bytes);
  here.launch_tiles(reading_kernel(here), shape.groups, shape.group_size, what, memory(never),
                    static_cast<unsigned>(vectors), static_cast<unsigned>(items), static_cast<unsigned>(passes), 0u);
  const std::uint64_t loads = info.is_cpu ? vectors / items : (vectors + items - 1) / items;
  return static_cast<double>(loads * items * shape.vector_bytes * passes);
}

void launch(backend::queue& on) {
  auto& here = static_cast<queue&>(on);
  const read_shape shape = shape_on(here.device().info());
  const buffer never(here, shape.vector_bytes);
  here.launch_tiles(reading_kernel(here), 1, shape.group_size, memory(never), memory(never), 1u, 1u, 0u, 0u);
}

std::uint64_t least_read(const device_info& on) {
  const read_shape shape = shape_on(on);
  return shape.items() * shape.vector_bytes * (on.is_cpu ? 64 : 1);
}

}  // namespace tilewise::backend::opencl
