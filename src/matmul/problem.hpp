// SPDX-License-Identifier: Apache-2.0
// How a matrix product is written as a registry::problem: shape {M, N, K}, or {M, N, K, lda, ldb, ldc} with the leading
// strides of A, B and C. Row-major: C[i,j] is at i * ldc + j.
#pragma once

#include "registry/algorithm.hpp"

#include <algorithm>

namespace tilewise::impl::matmul {

const registry::algorithm& matmul_algorithm();
extern const registry::division division;  // pieces.cpp

/// The sizes by their usual names.
struct sizes {
  std::uint64_t m, n, k, lda, ldb, ldc;

  explicit sizes(const registry::problem& p)
      : m(p.shape[0]),
        n(p.shape[1]),
        k(p.shape[2]),
        lda(p.shape.rank == 6 ? p.shape[3] : k),
        ldb(p.shape.rank == 6 ? p.shape[4] : n),
        ldc(p.shape.rank == 6 ? p.shape[5] : n) {}
};

/// Part `index` is elements [begin, end) if `count` elements are cut into `parts` parts. Their sizes differ by at
/// most 1.
struct part {
  std::uint64_t begin, end;

  part(std::uint64_t count, std::uint64_t parts, std::uint64_t index)
      : begin(start(count, parts, index)), end(start(count, parts, index + 1)) {}
  std::uint64_t size() const { return end - begin; }

 private:
  static std::uint64_t start(std::uint64_t count, std::uint64_t parts, std::uint64_t index) {
    return count / parts * index + std::min(index, count % parts);
  }
};

}  // namespace tilewise::impl::matmul
