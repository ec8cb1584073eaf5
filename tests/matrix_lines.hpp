// SPDX-License-Identifier: Apache-2.0
// Rows and columns of a matrix, for tests that compare each of them alone.
#pragma once

#include <tilewise/matrix.hpp>

#include <vector>

namespace tilewise::tests {

/// A copy of row or column `i` of the matrix.
inline std::vector<float> line_of(const std::vector<float>& a, const matrix_layout& l, axis which, std::uint64_t i) {
  std::vector<float> line;
  const std::uint64_t length = which == axis::rows ? l.columns : l.rows;
  for (std::uint64_t e = 0; e < length; ++e)
    line.push_back(which == axis::rows ? a[i * l.stride + e] : a[e * l.stride + i]);
  return line;
}

}  // namespace tilewise::tests
