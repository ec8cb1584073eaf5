// SPDX-License-Identifier: Apache-2.0
// Row-major matrices as operands: what matmul and matvec check and count alike.
#pragma once

#include <tilewise/types.hpp>

#include <cstdint>
#include <string>

namespace tilewise::registry {

/// Elements from the first to the last of a matrix whose rows are `stride` apart.
constexpr std::uint64_t elements_of(std::uint64_t rows, std::uint64_t columns, std::uint64_t stride) {
  return rows == 0 || columns == 0 ? 0 : (rows - 1) * stride + columns;
}

/// Why there is no such matrix: a stride that is too short, or more bytes than 64 bits count. Empty if there is.
std::string invalid_matrix(const std::string& name, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
                           dtype type);

/// "3x4"
std::string shape_text(std::uint64_t rows, std::uint64_t columns);

}  // namespace tilewise::registry
