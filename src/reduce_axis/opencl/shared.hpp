// SPDX-License-Identifier: Apache-2.0
// Host code that all programs built on line_tile.cl share.
#pragma once

#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "reduce_axis/tile.hpp"
#include "registry/byte_tree.hpp"
#include "registry/variant.hpp"

#include <string>

namespace tilewise::impl::reduce_axis {

/// Lines of elements in memory, from element `first` on.
struct line_elements {
  backend::memory where;
  std::uint64_t first;
  registry::lines of;
  bool by_rows, is_packed;

  /// The same without the first `element` elements of each line.
  line_elements from(std::uint64_t element) const {
    line_elements rest = *this;
    rest.first += element * of.element;
    rest.of.length -= element;
    rest.is_packed = is_packed && !by_rows;
    return rest;
  }
};

/// The values of tiles as elements of the next level. Values of the same tile lie side by side.
inline line_elements beside_each_other(const backend::memory& where, std::uint64_t tiles, std::uint64_t lines) {
  return {where, 0, {{tiles, lines, lines}, axis::columns}, false, true};
}

inline tile_shape shape_of(const line_elements& in, const order::block_tree& tree) {
  return shape_for(in.of, in.by_rows, in.is_packed, tree.group_size, tree.items);
}

/// There are separate programs for lines of at most 4, at most 8 and more elements. There are also separate programs
/// for tiles that work-items read and write in global memory without staging; these need lines side by side that fill
/// whole sectors.
inline std::string shape_definitions(const tile_shape& tile, std::size_t element_size) {
  constexpr std::uint32_t most = 3;
  const bool has_own = tile.has_short_lines() && tile.log_length <= most;
  const bool is_direct = !tile.by_rows && element_size << tile.log_lines >= 32;
  return (has_own ? " -DTW_LOG_SHORT=" + std::to_string(std::max(tile.log_length, most - 1)) : "") +
         " -DTW_IS_DIRECT=" + std::to_string(is_direct);
}

inline backend::opencl::struct_value lines_argument(const registry::lines& of) { return {&of, sizeof of}; }
inline backend::opencl::struct_value shape_argument(const tile_shape& tile) { return {&tile, sizeof tile}; }

inline std::string tile_too_large(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  const std::uint64_t size = size_of(p.type), tile = order::block_tree{group_size, items}.tile();
  const std::uint64_t left_out = tile * size / 128;  // unused elements (padding), as in line_tile.cl
  return backend::opencl::too_large(on.info(), group_size, (tile + left_out + 1 + 2 * group_size) * size);
}

}  // namespace tilewise::impl::reduce_axis
