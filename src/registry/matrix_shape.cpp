// SPDX-License-Identifier: Apache-2.0
#include "registry/matrix_shape.hpp"

#include <limits>

namespace tilewise::registry {

std::string shape_text(std::uint64_t rows, std::uint64_t columns) {
  return std::to_string(rows) + "x" + std::to_string(columns);
}

std::string invalid_matrix(const std::string& name, const matrix_layout& of, dtype type) {
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
