// SPDX-License-Identifier: Apache-2.0
// The tile of a matrix that a GPU's work-group holds: several lines, and a power of two of elements of each line.
#pragma once

#include "base/ceil_div.hpp"
#include "registry/matrix_shape.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tilewise::impl::reduce_axis {

/// The same layout as in line_tile.cl.
struct tile_shape {
  std::uint32_t by_rows;        // whether lines are rows, so that neighbours in memory belong to one line
  std::uint32_t is_contiguous;  // whether a tile has no gaps in memory
  std::uint32_t log_length;     // elements of each line in a tile; the last tile may have fewer
  std::uint32_t log_run;        // elements of a line that one thread takes
  std::uint32_t log_lines;      // lines of a tile
  std::uint32_t pitch;          // elements in staging memory from one line (if not by_rows: one row) to the next
  std::uint32_t bands;          // tiles side by side

  /// Bits [first, end) of a thread's number are the number of its run; the other bits are the number of its line.
  constexpr unsigned first_bit() const { return by_rows ? 0 : log_lines; }
  constexpr unsigned end_bit() const { return first_bit() + log_length - log_run; }
  constexpr unsigned runs() const { return 1u << (log_length - log_run); }

  /// Whether lines are no longer than a run, so that each thread takes whole lines and no values need to be combined.
  bool has_short_lines() const { return log_length == log_run; }
  std::uint64_t tiles_of(std::uint64_t length) const { return ceil_div(length, std::uint64_t{1} << log_length); }
  std::uint64_t groups_for(const registry::lines& of) const { return tiles_of(of.length) * bands; }
};

/// The tile for work-groups of `group_size` threads with `items` elements each. A line that fits a tile is in one tile.
/// If lines are columns, at least 32 of them (or all) lie side by side in a tile, so that a warp reads neighbours.
/// `is_packed`: there are no gaps between rows.
inline tile_shape shape_for(const registry::lines& of, bool by_rows, bool is_packed, std::uint64_t group_size,
                            std::uint64_t items) {
  constexpr std::uint64_t columns_together = 32;
  const auto log = [](std::uint64_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); };
  const std::uint64_t elements = group_size * items;
  const std::uint64_t beside = by_rows ? 1 : std::min(std::bit_ceil(of.count), columns_together);
  const std::uint64_t length = std::min(std::bit_ceil(of.length), elements / beside), run = std::min(items, length);
  const std::uint64_t lines = elements / length;
  const bool is_contiguous = by_rows ? is_packed || lines == 1 : is_packed && of.count <= lines;
  const std::uint64_t pitch =
      by_rows ? (is_packed ? std::min(of.length, length) : length) : (is_contiguous ? of.count : lines);
  return {.by_rows = by_rows,
          .is_contiguous = is_contiguous,
          .log_length = log(length),
          .log_run = log(run),
          .log_lines = log(lines),
          .pitch = static_cast<std::uint32_t>(pitch),
          .bands = static_cast<std::uint32_t>(ceil_div(of.count, lines))};
}

}  // namespace tilewise::impl::reduce_axis
