// SPDX-License-Identifier: Apache-2.0
// What cpu_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

#include <bit>

namespace tilewise::impl::scan_axis {

/// Columns that the kernel takes at once at most: long enough a piece of a row for the processor to read ahead, while
/// the levels of blocks stay in its second-level cache. 2 KiB take 1.3 times as long, 32 KiB 1.1 times.
template <class T>
inline constexpr std::uint64_t strip_width = 16384 / sizeof(T);

/// Some columns of some rows, which lie a stride apart.
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
};

/// From row to row of the scratch for a strip: room for whole vectors, and a little more, since rows that are a power
/// of two apart would compete for the same places in the caches, with one another and with those of a matrix.
constexpr std::uint64_t scratch_pitch(std::uint64_t columns) { return (columns + 31) / 16 * 16; }
/// Elements of scratch: of each level of blocks a row, and one of the prefixes before them.
constexpr std::uint64_t scratch_elements(std::uint64_t rows, std::uint64_t columns) {
  return 2 * (static_cast<std::uint64_t>(std::bit_width(rows / 8)) + 2) * scratch_pitch(columns);
}

template <class T>
struct cpu_kernels {
  /// Writes the scan of each of up to strip_width columns. `out` may be `in`.
  void (*columns)(const strip<T>& s, const strip_descent<T>& how, T* scratch);
  /// Writes the scan of the first of `rows` rows of n elements with nothing between them, as many as fill vectors;
  /// returns how many these are: none of more than 7 elements. `init` is the left operand of every output.
  std::uint64_t (*packed_rows)(const T* in, T* out, std::uint64_t rows, std::uint64_t n, T init, bool inclusive);
};

TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels(op operation);)

template <class T>
const cpu_kernels<T>& kernels_for(backend::cpu::instruction_set level, op operation) {
  return TILEWISE_AT_LEVEL(level, kernels<T>)(operation);
}

}  // namespace tilewise::impl::scan_axis
