// SPDX-License-Identifier: Apache-2.0
// The part of a matrix that a group of a GPU holds: several lines side by side.
#pragma once

#include "reduce_axis/reduce_axis_problem.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::impl::reduce_axis {

struct line_tile {
  std::uint32_t log_length, log_lines;
  std::uint32_t by_rows;  // whether a line's elements, and not the lines, lie side by side

  std::uint64_t lines() const { return std::uint64_t{1} << log_lines; }

  /// The values of whole tiles, on all levels.
  std::uint64_t values_of(const registry::lines& of) const {
    std::uint64_t count = 0;
    for (std::uint64_t tiles = of.length >> log_length; tiles != 0; tiles >>= log_length) count += tiles * of.count;
    return count;
  }
};

/// A tile of `elements`, a power of two. Lines up to its length are finished at once. Of columns, 32 lie side by side,
/// which one warp reads as a whole.
inline line_tile tile_for(const registry::problem& p, std::uint64_t group_size, std::uint64_t elements) {
  constexpr std::uint64_t columns_together = 32;
  const registry::lines of = lines_of(p);
  const bool by_rows = axis_of(p) == axis::rows;
  const std::uint64_t beside = by_rows ? 1 : std::min(std::bit_ceil(of.count), columns_together);
  const std::uint64_t length = std::min(std::bit_ceil(of.length + 1), elements / beside);
  const std::uint64_t lines = std::min({elements / length, group_size, std::bit_ceil(of.count)});
  return {static_cast<std::uint32_t>(std::countr_zero(std::max<std::uint64_t>(length, 2))),
          static_cast<std::uint32_t>(std::countr_zero(lines)), by_rows};
}

}  // namespace tilewise::impl::reduce_axis
