// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/queue.hpp"
#include "backend/roofs.hpp"

#include <algorithm>

namespace tilewise::embedded {
extern const std::string_view fma_cl;
}

namespace tilewise::backend::opencl {

namespace {

double run_chains(queue& on, dtype type, bool fused) {
  const device_info& info = on.device().info();
  if (type == dtype::f64 && !info.fp64) return 0;
  constexpr unsigned vector_bytes = 64, vectors = 6;
  // One item fills a CPU core; a GPU's unit works on a few hundred and has several groups to choose from.
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

}  // namespace tilewise::backend::opencl
