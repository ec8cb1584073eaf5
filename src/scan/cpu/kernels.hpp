// SPDX-License-Identifier: Apache-2.0
// What kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

namespace tilewise::impl::scan {

/// What a tile needs, besides its elements, to write its outputs.
template <class T>
struct descent {
  T carry;                  ///< the prefix before the tile
  const T* next = nullptr;  ///< the prefix after it if others follow; the last tile knows its own
  T init;                   ///< left operand of every output; the identity changes none
  bool inclusive = true;
  bool stream = false;       ///< write past the caches
  const T* ahead = nullptr;  ///< n elements that the thread will probably read next
};

template <class T>
using small_kernel = void(const T* in, T* out, std::uint64_t n, const T* init, bool inclusive);

template <class T>
struct cpu_kernels {
  /// Writes the scan of `in[0..n)`. Reads and overwrites the block values that reduce's upsweep left in `scratch`.
  void (*downsweep)(const T* in, T* out, std::uint64_t n, T* scratch, const descent<T>& how);
  /// The whole scan, for 0 < n <= reduce::small_limit. `init` is the left operand of every output, null for none.
  small_kernel<T>* small;
};

TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels(op operation);)

template <class T>
const cpu_kernels<T>& kernels_for(backend::cpu::instruction_set level, op operation) {
  return TILEWISE_AT_LEVEL(level, kernels<T>)(operation);
}

}  // namespace tilewise::impl::scan
