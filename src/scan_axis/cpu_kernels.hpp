// SPDX-License-Identifier: Apache-2.0
// What cpu_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

#include <bit>

namespace tilewise::impl::scan_axis {

/// The most columns that the kernel takes at once: wide enough for the processor to prefetch a row, and narrow enough
/// that all levels of blocks stay in the second-level cache. 2 KiB take 1.3 times as long, 32 KiB 1.1 times.
template <class T>
inline constexpr std::uint64_t strip_width = 16384 / sizeof(T);

/// A rectangle of a matrix: `rows` rows of `columns` columns, in the input and in the output.
template <class T>
struct strip {
  const T* in;
  std::uint64_t in_stride;
  T* out;
  std::uint64_t out_stride;
  std::uint64_t rows, columns;
};

/// What a strip needs, besides its elements, to write its outputs.
template <class T>
struct strip_descent {
  const T* carry = nullptr;  ///< each column's prefix before the strip; null at the matrix's top
  const T* next = nullptr;   ///< prefixes after a strip that others follow (its rows are a multiple of 8); else null
  T init;                    ///< left operand of every output; the identity changes none
  bool inclusive = true;
};

/// Elements from one row of a strip's scratch to the next: whole vectors and a little more. Rows that are a power of
/// two apart would compete for the same cache sets, with one another and with the rows of a matrix.
constexpr std::uint64_t scratch_pitch(std::uint64_t columns) { return (columns + 31) / 16 * 16; }
/// Elements of scratch: for each level of blocks a row of their values, and a row of the prefixes before them.
constexpr std::uint64_t scratch_elements(std::uint64_t rows, std::uint64_t columns) {
  return 2 * (static_cast<std::uint64_t>(std::bit_width(rows / 8)) + 2) * scratch_pitch(columns);
}

template <class T>
struct cpu_kernels {
  /// Writes the scan of each of up to strip_width columns. `out` may be `in`.
  void (*columns)(const strip<T>& s, const strip_descent<T>& how, T* scratch);
  /// Writes the scan of as many of the `rows` rows as fill whole vectors, from the first on. Returns how many; none if
  /// n is above 7. Rows have n elements and no gaps between them. `init` is the left operand of every output.
  std::uint64_t (*packed_rows)(const T* in, T* out, std::uint64_t rows, std::uint64_t n, T init, bool inclusive);
};

TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels(op operation);)

template <class T>
const cpu_kernels<T>& kernels_for(backend::cpu::instruction_set level, op operation) {
  return TILEWISE_AT_LEVEL(level, kernels<T>)(operation);
}

}  // namespace tilewise::impl::scan_axis
