// SPDX-License-Identifier: Apache-2.0
// What:   reduce/opencl:single_pass: one launch, whose last group finishes.
// Order:  single_pass.cl.
// Shape:  one group per tile.
// Limits: local memory for one tile of elements; fewer than tile^2 elements; devices on which packets work.
// Twins:  serial.cpp, cuda/variants.cu.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "reduce/problem.hpp"
#include "registry/byte_tree.hpp"
#include "registry/variant.hpp"

#include <algorithm>

namespace tilewise::embedded {
extern const std::string_view reduce_single_pass_cl;
}

namespace tilewise::impl::reduce {

namespace {

void run_single_pass(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                     backend::queue& on) {
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const order::block_tree tree = registry::byte_tree_of(p.type, t);
  const std::size_t size = size_of(p.type);
  const std::uint64_t groups = std::max<std::uint64_t>(p.n() / tree.tile(), 1);
  const std::string definitions = backend::opencl::definitions_of(p.type, operation_of(p)) + tree.definitions();
  const cl_kernel kernel = queue.program(embedded::reduce_single_pass_cl, definitions).kernel("tw_reduce");
  queue.launch_drawing(groups, groups, size, [&](const auto& board) {
    queue.launch_tiles(kernel, groups, tree.group_size, where.in[0], where.in[0].offset / size, p.n(), board.words,
                       board.launch, board.drawn, where.out[0], where.out[0].offset / size, init_value(p),
                       has_init(p) ? 1u : 0u);
  });
}

std::string single_pass_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  if (const std::string why = backend::opencl::lacks_packets(on.info()); !why.empty()) return why;
  const order::block_tree tree = registry::byte_tree_of(p.type, t);
  const std::uint64_t tile = tree.tile();
  if (p.n() / tile >= tile) return "it takes fewer than " + std::to_string(tile * tile) + " elements with this tuning";
  return backend::opencl::too_large(on.info(), tree.group_size, (tile + 3 * tree.group_size) * size_of(p.type));
}

/// Why two_phase is preferred; empty if it is not. This variant is faster if a second launch takes longer than the work
/// of the last group. On an H200, 2^20 floats take 0.6 of two_phase's time; from 10^7 on they take as long or longer.
std::string single_pass_yields(const registry::problem& p, const backend::device& on) {
  constexpr std::uint64_t most_bytes = 32 << 20;
  if (on.info().is_cpu) return "two_phase is faster on a CPU, where a launch costs little";
  return p.n() * size_of(p.type) > most_bytes ? "two_phase is faster beyond 32 MiB" : "";
}

}  // namespace

registry::variant opencl_single_pass_variant() {
  return {.algorithm = "reduce",
          .backend = "opencl",
          .name = "single_pass",
          .types = all_dtypes,
          .source =
              "the last block to finish sums what all have stored: NVIDIA, CUDA C++ Programming Guide, Memory "
              "Fence Functions",
          .tuning = registry::byte_tree_axes,
          .unsupported = single_pass_unsupported,
          .yields = single_pass_yields,
          .run = run_single_pass};
}

}  // namespace tilewise::impl::reduce
