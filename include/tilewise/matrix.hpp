// SPDX-License-Identifier: Apache-2.0
// The layout of a matrix in an array.
#pragma once

#include <cstdint>

namespace tilewise {

/// A row-major matrix: element (i, j) is at i * stride + j. Elements between the rows are neither read nor written.
struct matrix_layout {
  std::uint64_t rows;     ///< from top to bottom
  std::uint64_t columns;  ///< from left to right
  std::uint64_t stride;   ///< elements from one row's begin to the next: at least `columns`, and not 0

  constexpr matrix_layout(std::uint64_t rows_, std::uint64_t columns_)
      : matrix_layout(rows_, columns_, columns_ == 0 ? 1 : columns_) {}
  constexpr matrix_layout(std::uint64_t rows_, std::uint64_t columns_, std::uint64_t stride_)
      : rows(rows_), columns(columns_), stride(stride_) {}
};

/// Whether an algorithm works along each column (NumPy's axis=0) or along each row (axis=1).
enum class axis : std::uint8_t { columns, rows };

/// The number of a matrix's rows, or of its columns.
constexpr std::uint64_t lines_of(const matrix_layout& a, axis which) {
  return which == axis::rows ? a.rows : a.columns;
}

/// The number of elements of a matrix without gaps between its rows. If it exceeds 64 bits, returns the largest 64-bit
/// number, for which every allocation fails.
constexpr std::uint64_t packed_elements(const matrix_layout& of) {
  const bool counts = of.columns == 0 || of.rows <= ~std::uint64_t{0} / of.columns;
  return counts ? of.rows * of.columns : ~std::uint64_t{0};
}

}  // namespace tilewise
