// SPDX-License-Identifier: Apache-2.0
// How a matrix lies in an array.
#pragma once

#include <cstdint>

namespace tilewise {

/// A row-major matrix: element (i, j) is at i * stride + j. Elements between the rows belong to somebody else: they are
/// neither read nor written.
struct matrix_layout {
  std::uint64_t rows;     ///< from top to bottom
  std::uint64_t columns;  ///< from left to right
  std::uint64_t stride;   ///< elements from row to row: at least `columns`, and not 0

  constexpr matrix_layout(std::uint64_t rows_, std::uint64_t columns_)
      : matrix_layout(rows_, columns_, columns_ == 0 ? 1 : columns_) {}
  constexpr matrix_layout(std::uint64_t rows_, std::uint64_t columns_, std::uint64_t stride_)
      : rows(rows_), columns(columns_), stride(stride_) {}
};

/// What becomes one value each: NumPy's axis=0 and axis=1.
enum class axis : std::uint8_t { columns, rows };

/// Elements of a matrix whose rows follow each other without gaps; more than 64 bits can count become their largest
/// number, which no memory holds.
constexpr std::uint64_t packed_elements(const matrix_layout& of) {
  const bool counts = of.columns == 0 || of.rows <= ~std::uint64_t{0} / of.columns;
  return counts ? of.rows * of.columns : ~std::uint64_t{0};
}

}  // namespace tilewise
