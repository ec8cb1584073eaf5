// SPDX-License-Identifier: Apache-2.0
// What:   scan/opencl:sweep_add: scans each tile by itself, then the tiles' totals, and adds these prefixes to the
//         tiles.
// Order:  opencl_sweep_add.cl.
// Shape:  two launches per level but the last, which has one; elements are written twice.
// Limits: plain inclusive sums of f32; works in place.
// Twins:  serial.cpp.
#include "scan/opencl/variants.hpp"

#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "scan/problem.hpp"

#include <bit>

namespace tilewise::embedded {
extern const std::string_view scan_sweep_add_cl;
}

namespace tilewise::impl::scan {

namespace {

constexpr std::array<unsigned, 8> add_group_sizes{8, 16, 32, 64, 128, 256, 512, 1024};
constexpr std::array<unsigned, 2> add_values{0, 1};
constexpr std::array<std::string_view, 2> add_words{"local", "direct"};
constexpr std::array<registry::tuning_axis, 2> sweep_add_axes{
    {{"group_size", add_group_sizes, 64}, {"carry", add_values, 0, add_words}}};
constexpr std::array sweep_add_types{dtype::f32};

/// At n = 2^26, pairwise sums within a tile and over the tiles have an error of about 26 * 2^-24 of the largest prefix.
/// A missing tile of uniform floats makes an error a hundred times as large.
constexpr double sweep_add_bound = 1e-4;

struct two_sweeps {
  backend::opencl::queue& queue;
  cl_kernel sweep, add;
  unsigned group_size;

  /// Positions are in elements.
  void operator()(backend::memory in, std::uint64_t in_first, std::uint64_t count, backend::memory out,
                  std::uint64_t out_first) const {
    const std::uint64_t tiles = ceil_div(count, 2 * std::uint64_t{group_size});
    const backend::buffer room(queue, tiles * sizeof(float));
    const backend::memory totals = room;
    queue.launch_tiles(sweep, tiles, group_size, in, in_first, count, out, out_first, totals);
    if (tiles == 1) return;
    (*this)(totals, 0, tiles, totals, 0);
    queue.launch_tiles(add, tiles - 1, group_size, out, out_first, count, totals);
  }
};

void run_sweep_add(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                   backend::queue& on) {
  const auto [group_size, carry] = t.of(sweep_add_axes);
  if (p.n() == 0) return;
  auto& queue = static_cast<backend::opencl::queue&>(on);
  auto& program =
      queue.program(embedded::scan_sweep_add_cl, backend::opencl::definitions_of(p.type, op::sum) +
                                                     " -DTW_LOG_PAIRS=" + std::to_string(std::countr_zero(group_size)) +
                                                     (carry == 1 ? " -DTW_CARRY_DIRECT=1" : ""));
  const two_sweeps scan{queue, program.kernel("tw_sweep"), program.kernel("tw_add"), group_size};
  scan(where.in[0], where.in[0].offset / sizeof(float), p.n(), where.out[0], where.out[0].offset / sizeof(float));
}

std::string sweep_add_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const auto [group_size, carry] = t.of(sweep_add_axes);
  if (operation_of(p) != op::sum || starts_from_init(p) || has_carry(p))
    return "it makes inclusive sums without an initial value only";
  return backend::opencl::too_large(on.info(), group_size, (2 * std::uint64_t{group_size} + 1) * sizeof(float));
}

}  // namespace

registry::variant opencl_sweep_add_variant() {
  return {.algorithm = "scan",
          .backend = "opencl",
          .name = "sweep_add",
          .order = registry::claim::own,
          .types = sweep_add_types,
          .source = "Harris, Sengupta and Owens 2007, Parallel prefix sum (scan) with CUDA, GPU Gems 3, chapter 39",
          .tuning = sweep_add_axes,
          .unsupported = sweep_add_unsupported,
          .run = run_sweep_add,
          .bound = sweep_add_bound};
}

}  // namespace tilewise::impl::scan
