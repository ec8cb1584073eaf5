#include "backend/opencl/opencl_queue.hpp"

#include <algorithm>

namespace tilewise::embedded {
extern const std::string_view fma_cl;
}

namespace tilewise::backend::opencl {

double queue::multiply_add(dtype type) {
  const device_info& info = device().info();
  if (type == dtype::f64 && !info.fp64) return 0;
  constexpr unsigned vector_bytes = 64, vectors = 6;
  // One item fills a CPU core; a GPU's unit works on a few hundred and has several groups to choose from.
  const unsigned group_size = info.is_cpu ? 1 : 128, groups_a_unit = info.is_cpu ? 128 : 16, steps = 2048;
  const std::uint64_t groups = std::max(1u, info.compute_units) * groups_a_unit;
  const bool fused = type == dtype::f32 || type == dtype::f64;
  const std::string scalar = fused ? (size_of(type) == 8 ? "double" : "float") : size_of(type) == 8 ? "ulong" : "uint";
  const std::string options = "-DTW_T=" + scalar + " -DTW_CHAIN=" + scalar +
                              std::to_string(vector_bytes / size_of(type)) + (fused ? " -DTW_FUSED" : "");
  const buffer sums(*this, vector_bytes);
  with_type(type, [&]<class T>(T) {
    launch_tiles(program(embedded::fma_cl, options).kernel("tw_multiply_add"), groups, group_size, memory(sums),
                 base::scalar_value::of(static_cast<T>(0.5)), base::scalar_value::of(T{3}), steps, 0u);
  });
  return 2.0 * static_cast<double>(groups) * group_size * steps * vectors *
         static_cast<double>(vector_bytes / size_of(type));
}

}  // namespace tilewise::backend::opencl
