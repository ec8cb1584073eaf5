// SPDX-License-Identifier: Apache-2.0
// What:   scan/opencl:lookback: one launch, in which each element is read once and written once.
// Order:  lookback.cl.
// Shape:  one group per tile.
// Limits: local memory for one tile of elements; fewer than 2^25 tiles; devices whose groups may wait for each other;
//         works in place.
// Twins:  serial.cpp, cuda/lookback.cu.
#include "scan/opencl/variants.hpp"

#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "registry/byte_tree.hpp"

#include <bit>

namespace tilewise::embedded {
extern const std::string_view scan_lookback_cl;
}

namespace tilewise::impl::scan {

namespace {

// The same numbers as in lookback.cl.
constexpr unsigned log_siblings = 5, most_levels = 5;

/// How many levels are below the first level that has all tiles in one node.
unsigned levels_of(std::uint64_t tiles) { return ceil_div(static_cast<unsigned>(std::bit_width(tiles)), log_siblings); }

/// How many nodes all levels have. Each level is rounded up to a multiple of 32.
std::uint64_t nodes_of(std::uint64_t tiles) {
  std::uint64_t nodes = 0;
  for (unsigned level = 0; level < levels_of(tiles); ++level)
    nodes += ((tiles >> (level * log_siblings) >> log_siblings) + 1) << log_siblings;
  return nodes;
}

void run_lookback(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                  backend::queue& on) {
  if (p.n() == 0) return;
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const order::block_tree tree = registry::byte_tree_of(p.type, t);
  const std::size_t size = size_of(p.type);
  const std::uint64_t tiles = ceil_div(p.n(), tree.tile());
  const backend::memory in = where.in[0], out = where.out[0], part = has_carry(p) ? where.in[1] : in;
  const cl_kernel kernel = queue
                               .program(embedded::scan_lookback_cl,
                                        backend::opencl::definitions_of(p.type, operation_of(p)) + tree.definitions())
                               .kernel("tw_lookback");
  queue.launch_drawing(tiles, nodes_of(tiles), size, [&](const auto& board) {
    queue.launch_tiles(kernel, tiles, tree.group_size, in, in.offset / size, p.n(), board.words, board.launch,
                       board.drawn, levels_of(tiles), part, part.offset / size, out, out.offset / size, init_value(p),
                       mode_of(p) | last);
  });
}

std::string lookback_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const order::block_tree tree = registry::byte_tree_of(p.type, t);
  const std::uint64_t tile = tree.tile() * size_of(p.type);
  if (const std::string why = backend::opencl::lacks_packets(on.info()); !why.empty()) return why;
  if (levels_of(ceil_div(p.n(), tree.tile())) > most_levels)
    return "it takes fewer than " + std::to_string(1u << (most_levels * log_siblings)) + " tiles";
  const std::uint64_t trees = (3 * tree.group_size + (most_levels << log_siblings)) * size_of(p.type);
  return backend::opencl::too_large(on.info(), tree.group_size, tile + tile / 8 + trees);
}

}  // namespace

registry::variant opencl_lookback_variant() {
  return {.algorithm = "scan",
          .backend = "opencl",
          .name = "lookback",
          .types = all_dtypes,
          .source =
              "Merrill, Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, NVR-2016-002; here "
              "over the nodes of a fixed tree",
          .tuning = registry::byte_tree_axes,
          .unsupported = lookback_unsupported,
          .run = run_lookback};
}

}  // namespace tilewise::impl::scan
