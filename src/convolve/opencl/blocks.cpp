// SPDX-License-Identifier: Apache-2.0
// What:   convolve/opencl:blocks, for square masks whose loops are unrolled.
// Order:  one chain per result, all of it in one item: blocks.cl.
// Shape:  one launch; a group makes a tile of the result, an item 4 rows of 16 bytes.
// Limits: square masks of 3, 5, 7 and 9 rows; local memory for a tile and its halo; f64 where the device has it.
// Twins:  serial.cpp, cuda/blocks.cu.
#include "convolve/opencl/variants.hpp"

namespace tilewise::embedded {
extern const std::string_view convolve_blocks_cl;
}

namespace tilewise::impl::convolve {

namespace {

using registry::problem;
using registry::tuning;

/// The tile of a work-group, as in blocks.cl.
struct block_tile {
  static constexpr unsigned item_rows = 4, rows = tile_group.height * item_rows;
  sizes of;
  std::uint64_t pack, columns, element;

  explicit block_tile(const problem& p)
      : of(p), pack(16 / size_of(p.type)), columns(tile_group.width * pack), element(size_of(p.type)) {}

  std::uint64_t tiles() const {
    const std::uint64_t before = (0 - of.left) % pack;
    return ceil_div(of.result.rows, std::uint64_t{rows}) * ceil_div(of.result.columns + before, columns);
  }
  backend::opencl::local_room local_room() const {
    return {(rows + of.mask.rows - 1) * ceil_div(columns + of.mask.columns - 1, pack) * pack * element};
  }
};

void run(const problem& p, const registry::bindings& where, const tuning&, backend::queue& on) {
  const block_tile tile(p);
  const sizes& s = tile.of;
  auto& queue = static_cast<backend::opencl::queue&>(on);
  auto& program = queue.program(embedded::convolve_blocks_cl, definitions_of(p, tile.item_rows));
  const constant_mask mask(queue, where.in[1]);
  queue.launch_tiles(program.kernel("tw_blocks"), tile.tiles(), tile_group, where.in[0], first_of(where.in[0], p),
                     s.image.rows, s.image.columns, mask.where(), first_of(mask.where(), p), where.out[0],
                     first_of(where.out[0], p), s.result.rows, s.result.columns, s.above, s.left, tile.local_room());
}

std::string unsupported(const problem& p, const backend::device& on, const tuning&) {
  const block_tile tile(p);
  if (std::string why = not_unrolled(tile.of.mask); !why.empty()) return why;
  return backend::opencl::too_large(on.info(), tile_group.items(), tile.local_room());
}

std::string yields(const problem& p, const backend::device&) {
  return p.type == dtype::f64 ? "tiles is faster for doubles" : rows_are_not_packs(p);
}

}  // namespace

registry::variant opencl_blocks_variant() {
  return {.algorithm = "convolve",
          .backend = "opencl",
          .name = "blocks",
          .types = float_types,
          .source = "the definition, unrolled; neighbours of a pixel through caches",
          .unsupported = unsupported,
          .yields = yields,
          .run = run};
}

}  // namespace tilewise::impl::convolve
