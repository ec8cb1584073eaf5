// SPDX-License-Identifier: Apache-2.0
// How a matrix-vector product is written as a registry::problem: shape {M, N}, or {M, N, lda} with the leading stride
// of A. A dot product is one row.
#pragma once

#include "registry/algorithm.hpp"

namespace tilewise::impl::matvec {

const registry::algorithm& matvec_algorithm();
registry::problem describe(const detail::request& r);  // matvec.cpp
extern const registry::division division;              // pieces.cpp

/// The sizes by their usual names.
struct sizes {
  std::uint64_t m, n, lda;

  explicit sizes(const registry::problem& p)
      : m(p.shape[0]), n(p.shape[1]), lda(p.shape.rank == 3 ? p.shape[2] : p.shape[1]) {}
};

}  // namespace tilewise::impl::matvec
