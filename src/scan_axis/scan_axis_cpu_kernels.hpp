// SPDX-License-Identifier: Apache-2.0
// What scan_axis_cpu_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/cpu_levels.hpp"

#include <tilewise/types.hpp>

namespace tilewise::impl::scan_axis {

/// Columns that the kernel takes at once at most: a row of them and every level of blocks stay near the processor.
template <class T>
inline constexpr std::uint64_t strip_width = 2048 / sizeof(T);

/// Some columns of some rows, fewer than 2^43; rows lie a stride apart.
template <class T>
struct strip {
  const T* in;
  std::uint64_t in_stride;
  T* out;
  std::uint64_t out_stride;
  std::uint64_t rows, columns;
};

/// What a strip must know to write its outputs.
template <class T>
struct strip_descent {
  const T* carry = nullptr;  ///< each column's prefix before the strip; null at the matrix's top
  const T* next = nullptr;   ///< those after it if other rows follow, which are then a multiple of 8; else null
  T init;                    ///< left operand of every output; the identity changes none
  bool inclusive = true;
  bool stream = false;  ///< write past the caches: each row of `out` begins at a multiple of 64 bytes
};

template <class T>
struct cpu_kernels {
  /// Writes the scan of each of up to strip_width columns. `out` may be `in`.
  void (*columns)(const strip<T>& s, const strip_descent<T>& how);
};

TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels(op operation);)

template <class T>
const cpu_kernels<T>& kernels_for(backend::cpu::instruction_set level, op operation) {
  return TILEWISE_AT_LEVEL(level, kernels<T>)(operation);
}

}  // namespace tilewise::impl::scan_axis
