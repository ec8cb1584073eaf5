// SPDX-License-Identifier: Apache-2.0
// What naive_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

namespace tilewise::impl::polymul {

/// How many zeros lie before and after the second factor, so that vectors may reach past its ends.
inline constexpr std::uint64_t naive_margin = 256;

/// Integers are passed as unsigned 64-bit integers. Products are modulo 2^64, so they are exact if they fit.
template <class T>
struct naive_kernels {
  /// Writes coefficient k of the product to c[k - first], for k in [first, first + count). b has its margin on both
  /// sides.
  void (*multiply)(const T* a, std::uint64_t n, const T* b, std::uint64_t m, T* c, std::uint64_t first,
                   std::uint64_t count);
  /// The same for integers that fit signed 32 bits; null for floats.
  void (*multiply_narrow)(const T* a, std::uint64_t n, const T* b, std::uint64_t m, T* c, std::uint64_t first,
                          std::uint64_t count);
};

TILEWISE_AT_EACH_LEVEL(template <class T> const naive_kernels<T>& naive();)

template <class T>
const naive_kernels<T>& naive_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, naive<T>)();
}

}  // namespace tilewise::impl::polymul
