// SPDX-License-Identifier: Apache-2.0
// Row-major matrices as operands: the checks and counts that all matrix algorithms share.
#pragma once

#include <tilewise/matrix.hpp>
#include <tilewise/types.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tilewise::registry {

/// The number of elements from the first to the last one of a matrix, gaps included.
constexpr std::uint64_t elements_of(const matrix_layout& of) {
  return of.rows == 0 || of.columns == 0 ? 0 : (of.rows - 1) * of.stride + of.columns;
}

/// Whether there are no gaps between its rows.
constexpr bool is_packed(const matrix_layout& of) { return of.stride == of.columns || of.rows == 0 || of.columns == 0; }

/// How many consecutive elements stay on one rank of a group (operand::row): a row, or a single element if the matrix
/// has so few rows that the ranks' shards would be unequal.
constexpr std::uint64_t undivided(const matrix_layout& of) {
  constexpr std::uint64_t rows_enough_for_all = 256;
  return of.rows < rows_enough_for_all || of.stride == 0 ? 1 : of.stride;
}

/// The values of the setting axis.
inline constexpr std::array<std::string_view, 2> axis_words{"columns", "rows"};

/// The rows of a matrix, or its columns: element e of line l is at e * element + l * line.
struct lines {
  std::uint64_t count, length;
  std::uint64_t line, element;

  constexpr lines(const matrix_layout& of, axis which) {
    const bool of_rows = which == axis::rows;
    count = of_rows ? of.rows : of.columns;
    length = of_rows ? of.columns : of.rows;
    line = of_rows ? of.stride : 1;
    element = of_rows ? 1 : of.stride;
  }
};

/// "3x4"
inline std::string shape_text(std::uint64_t rows, std::uint64_t columns) {
  return std::to_string(rows) + "x" + std::to_string(columns);
}

/// Why the layout is invalid: the stride is too short, or the bytes exceed 64 bits. Empty if it is valid.
inline std::string invalid_matrix(const std::string& name, const matrix_layout& of, dtype type) {
  const auto [rows, columns, stride] = of;
  if (rows == 0 || columns == 0) return "";
  if (stride < columns)
    return name + " is " + shape_text(rows, columns) + ", but its rows are only " + std::to_string(stride) +
           " elements apart; the stride must be at least " + std::to_string(columns);
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max() / size_of(type);
  if (columns > most || (rows - 1) > (most - columns) / stride)
    return name + " is " + shape_text(rows, columns) + " with rows " + std::to_string(stride) +
           " elements apart: more bytes than a 64-bit address reaches";
  return "";
}

}  // namespace tilewise::registry
