// SPDX-License-Identifier: Apache-2.0
// What:   matmul/opencl:split_k: divides both C and K. Work-groups compute blocks of C over parts of K, and a second
//         kernel adds the results of the parts.
// Order:  opencl_split_k.cl.
// Shape:  two launches.
// Limits: f32; room on the device for `parts` results.
// Twins:  serial.cpp, opencl/variants.cpp.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "matmul/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::embedded {
extern const std::string_view matmul_split_k_cl;
}

namespace tilewise::impl::matmul {

namespace {

constexpr std::array<unsigned, 4> part_counts{1, 2, 4, 8};
constexpr std::array<registry::tuning_axis, 1> split_axes{{{"parts", part_counts, 4}}};
constexpr std::array split_types{dtype::f32};
constexpr unsigned split_side = 16, sum_group = 256;

/// The bound for products in any other order (peers/variants.hpp). It is tight enough to detect a missing product.
constexpr double split_bound = 1e-3;

void run_split_k(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                 backend::queue& on) {
  const auto [wanted] = t.of(split_axes);
  const sizes s(p);
  if (s.m == 0 || s.n == 0) return;
  auto& queue = static_cast<backend::opencl::queue&>(on);
  auto& program = queue.program(embedded::matmul_split_k_cl, backend::opencl::definitions_of(p.type, op::sum));
  const std::uint64_t depth = std::max<std::uint64_t>(1, ceil_div(s.k, wanted));
  const std::uint64_t parts = std::max<std::uint64_t>(1, ceil_div(s.k, depth));
  const std::uint64_t blocks = ceil_div(s.m, split_side) * ceil_div(s.n, split_side);
  const auto first = [](const backend::memory& m) { return m.offset / sizeof(float); };
  const backend::buffer room(queue, parts * s.m * s.n * sizeof(float));
  queue.launch_tiles(program.kernel("tw_parts"), parts * blocks, {split_side, split_side}, where.in[0],
                     first(where.in[0]), s.lda, where.in[1], first(where.in[1]), s.ldb, backend::memory(room), s.m, s.n,
                     s.k, depth);
  queue.launch_tiles(program.kernel("tw_add_parts"), ceil_div(s.m * s.n, sum_group), sum_group, backend::memory(room),
                     parts, where.out[0], first(where.out[0]), s.ldc, s.m, s.n);
}

std::string split_k_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const auto [parts] = t.of(split_axes);
  const sizes s(p);
  const std::uint64_t most = on.info().max_allocation, room = parts * s.m * s.n * sizeof(float);
  if (most != 0 && room > most)
    return "its parts of " + std::to_string(room) + " bytes are more than " + on.info().name +
           " can allocate at once, " + std::to_string(most) + " bytes";
  return backend::opencl::too_large(on.info(), sum_group, 2 * split_side * split_side * sizeof(float));
}

}  // namespace

registry::variant opencl_split_k_variant() {
  return {
      .algorithm = "matmul",
      .backend = "opencl",
      .name = "split_k",
      .order = registry::claim::own,
      .types = split_types,
      .source = "input and output divided: Grama, Gupta, Karypis and Kumar 2003, Introduction to parallel computing",
      .tuning = split_axes,
      .unsupported = split_k_unsupported,
      .run = run_split_k,
      .bound = split_bound};
}

}  // namespace tilewise::impl::matmul
