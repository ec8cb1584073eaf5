// SPDX-License-Identifier: Apache-2.0
// What kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

namespace tilewise::impl::matvec {

/// Signed integers are passed as unsigned ones: the bits are the same, and unsigned overflow is defined.
template <class T>
struct cpu_kernels {
  /// How many elements of scratch rows of n elements need.
  std::uint64_t (*scratch_elements)(std::uint64_t n);
  /// y[i] = P(n) over the products of row i and x, for n > 0. `cached`: the rows may lie in the last-level cache.
  void (*rows)(const T* a, std::uint64_t stride, const T* x, T* y, std::uint64_t rows, std::uint64_t n, T* scratch,
               bool cached);
  /// P(n) over the products of two arrays, continued from `first`. n = 2^k and the identity give the value of a block.
  T (*prefix)(const T* a, const T* x, std::uint64_t n, T* scratch, T first);
  /// The result for one row of few elements, without scratch.
  T (*dot)(const T* a, const T* x, std::uint64_t n);
};

TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels();)

template <class T>
const cpu_kernels<T>& kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, kernels<T>)();
}

}  // namespace tilewise::impl::matvec
