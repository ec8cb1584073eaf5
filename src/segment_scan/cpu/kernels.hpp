// SPDX-License-Identifier: Apache-2.0
// What kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

#include <cstdint>

namespace tilewise::impl::segment_scan {

/// The memory of segments: segment s is x[offsets[s] .. offsets[s + 1]), its results are y[offsets[s] - y_begin ..].
template <class T>
struct segments {
  const T* x;
  const std::int64_t* offsets;
  T* y;
  std::int64_t y_begin;
  T first;  // every result begins with it
  bool inclusive;
};

template <class T>
struct cpu_kernels {
  /// Scans segments [begin, end) up to the first with more than reduce::small_limit elements, and returns which one
  /// that is, or `end`.
  std::uint64_t (*short_segments)(const segments<T>& of, std::uint64_t begin, std::uint64_t end);
};

TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels(op operation);)

template <class T>
const cpu_kernels<T>& kernels_for(backend::cpu::instruction_set level, op operation) {
  return TILEWISE_AT_LEVEL(level, kernels<T>)(operation);
}

}  // namespace tilewise::impl::segment_scan
