// SPDX-License-Identifier: Apache-2.0
// What kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

namespace tilewise::impl::reduce_axis {

/// The most columns that the kernel takes at once: a row of them and every level of blocks stay in the first-level
/// cache.
template <class T>
inline constexpr std::uint64_t strip = 2048 / sizeof(T);

template <class T>
struct cpu_kernels {
  /// Computes P(rows) of each of `columns` <= strip columns, continued from the values in `out`. Rows lie `stride`
  /// elements apart; there are fewer than 2^32.
  void (*columns)(const T* a, std::uint64_t stride, std::uint64_t rows, std::uint64_t columns, T* out);
  /// Computes P(n) of as many of the `rows` short rows as fill whole vectors, from the first on. Returns how many.
  std::uint64_t (*rows)(const T* a, std::uint64_t stride, std::uint64_t rows, std::uint64_t n, T* out);
  /// Rows with fewer elements than this are short.
  std::uint64_t short_row;
};

TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels(op operation);)

template <class T>
const cpu_kernels<T>& kernels_for(backend::cpu::instruction_set level, op operation) {
  return TILEWISE_AT_LEVEL(level, kernels<T>)(operation);
}

}  // namespace tilewise::impl::reduce_axis
