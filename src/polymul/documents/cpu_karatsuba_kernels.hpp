// SPDX-License-Identifier: Apache-2.0
// What cpu_karatsuba_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

namespace tilewise::impl::polymul {

/// Computes c = a b where the recursion ends: a and b have `length` coefficients each, c has 2 length - 1.
struct karatsuba_leaf {
  void (*multiply)(const std::uint64_t* a, std::uint64_t n, const std::uint64_t* b, std::uint64_t m, std::uint64_t* c,
                   std::uint64_t first, std::uint64_t count);
  std::uint64_t* between_zeros;  // room for b with the zero margins that `multiply` needs
  std::uint64_t length;          // the most coefficients of a leaf
};

/// All values are modulo 2^64.
struct karatsuba_kernels {
  /// Computes c = a b. a and b have `length` = leaf * 2^k coefficients each; c has 2 length, the last of them 0. Needs
  /// 4 length elements of scratch.
  void (*multiply)(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c, std::uint64_t length,
                   std::uint64_t* scratch, const karatsuba_leaf& leaf);
  /// Computes a product of twice the length from the products of the low halves, of the high halves and of their sums.
  void (*join)(const std::uint64_t* low, const std::uint64_t* high, const std::uint64_t* sums, std::uint64_t* c,
               std::uint64_t length);
  void (*add)(const std::uint64_t* from, std::uint64_t* to, std::uint64_t count);  // to += from
};

TILEWISE_AT_EACH_LEVEL(const karatsuba_kernels& karatsuba();)

inline const karatsuba_kernels& karatsuba_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, karatsuba)();
}

}  // namespace tilewise::impl::polymul
