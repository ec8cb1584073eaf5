// SPDX-License-Identifier: Apache-2.0
// What kernels.cpp offers for each x86-64 level; scan/cpu uses it too.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

namespace tilewise::impl::reduce {

/// Arrays up to this length go straight to the kernel: a device's queue would take longer than the work.
inline constexpr std::uint64_t small_limit = 4096;
/// Room for the levels over small_limit elements at two lanes per vector: 1/2 + 1/4 + ..., and a few vectors.
inline constexpr std::uint64_t small_scratch = small_limit + 64;

template <class T>
using small_kernel = T(const T* in, std::uint64_t n, const T* init);

template <class T>
struct cpu_kernels {
  /// Elements of scratch for n elements.
  std::uint64_t (*scratch_elements)(std::uint64_t n);
  /// Writes the block values of `in[0..n)` to `scratch`.
  void (*upsweep)(const T* in, std::uint64_t n, T* scratch);
  /// Computes P(n), continued from `first`, from the block values in `scratch`. With n = 2^k and the identity as
  /// `first`, this is the value of a block.
  T (*fold)(const T* in, std::uint64_t n, const T* scratch, T first);
  /// The result directly, for 0 < n <= small_limit; `init` may be null.
  small_kernel<T>* small;
};

TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels(op operation);)

template <class T>
const cpu_kernels<T>& kernels_for(backend::cpu::instruction_set level, op operation) {
  return TILEWISE_AT_LEVEL(level, kernels<T>)(operation);
}

}  // namespace tilewise::impl::reduce
