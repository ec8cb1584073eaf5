// SPDX-License-Identifier: Apache-2.0
// What merge_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"
#include "sort/code.hpp"

namespace tilewise::impl::sort {

/// Sorted codes.
template <class Bits, class Value>
struct sorted_run {
  const Bits* keys;
  const Value* values;
  std::uint64_t n;

  sorted_run piece(std::uint64_t begin, std::uint64_t end) const {
    if constexpr (moves<Value>) return {keys + begin, values + begin, end - begin};
    return {keys + begin, values, end - begin};
  }
};

/// How many elements are sorted at once by computing their ranks. 16 is faster than 8 and 32 with AVX2 and AVX-512.
inline constexpr std::uint64_t rank_run = 16;

template <class Bits, class Value>
struct merge_kernels {
  /// Makes sorted runs of rank_run elements from n keys. Keys are encoded with `before`, and decoded with `after` when
  /// written. If `values` is null, the values are indices from `first` on.
  void (*make_runs)(const Bits* keys, const Value* values, std::uint64_t first, std::uint64_t n, sort_code<Bits> before,
                    sort_code<Bits> after, elements<Bits, Value> out);
  /// Merges the codes of two runs and decodes them with `after`. Where codes are equal, those of `a` come first.
  void (*merge)(sorted_run<Bits, Value> a, sorted_run<Bits, Value> b, sort_code<Bits> after, elements<Bits, Value> out);
};

TILEWISE_AT_EACH_LEVEL(template <class Bits, class Value> const merge_kernels<Bits, Value>& merging();)

template <class Bits, class Value>
const merge_kernels<Bits, Value>& merge_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, merging<Bits, Value>)();
}

}  // namespace tilewise::impl::sort
