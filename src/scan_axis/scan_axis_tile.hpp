// SPDX-License-Identifier: Apache-2.0
// The part of a matrix that a group of a GPU holds: several lines, and a power of two of elements of each.
#pragma once

#include "scan_axis/scan_axis_problem.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::impl::scan_axis {

struct line_tile {
  std::uint32_t log_length, log_lines;
  std::uint32_t log_run;  // elements of a line that one item takes; all runs together are as many as items
  std::uint32_t by_rows;  // whether a line's elements, and not the lines, lie side by side

  std::uint64_t length() const { return std::uint64_t{1} << log_length; }
  std::uint64_t lines() const { return std::uint64_t{1} << log_lines; }
};

/// For lines of up to group_size * items elements: powers of two. Lines that are no longer are one tile. Of columns, 32
/// lie side by side, which one warp reads as a whole.
inline line_tile tile_for(std::uint64_t count, std::uint64_t length, bool by_rows, std::uint64_t group_size,
                          std::uint64_t items) {
  constexpr std::uint64_t columns_together = 32;
  const std::uint64_t beside = by_rows ? 1 : std::min(std::bit_ceil(count), columns_together);
  const std::uint64_t tile = std::min(std::bit_ceil(length), group_size * items / beside);
  const std::uint64_t run = std::min(items, tile), lines = group_size / (tile / run);
  const auto log = [](std::uint64_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); };
  return {log(tile), log(lines), log(run), by_rows};
}

}  // namespace tilewise::impl::scan_axis
