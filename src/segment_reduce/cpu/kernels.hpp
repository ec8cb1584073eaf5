// SPDX-License-Identifier: Apache-2.0
// What kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"
#include "segment_reduce/segments.hpp"

#include <tilewise/types.hpp>

namespace tilewise::impl::segment_reduce {

template <class T>
struct cpu_kernels {
  /// Reduces segments [begin, end) up to the first with more than reduce::small_limit elements, and returns which one
  /// that is, or `end`.
  std::uint64_t (*short_segments)(const segments<T>& of, std::uint64_t begin, std::uint64_t end);
};

TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels(op operation);)

template <class T>
const cpu_kernels<T>& kernels_for(backend::cpu::instruction_set level, op operation) {
  return TILEWISE_AT_LEVEL(level, kernels<T>)(operation);
}

}  // namespace tilewise::impl::segment_reduce
