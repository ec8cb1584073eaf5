// What sort_cpu_merge_kernels.cpp offers for each x86-64 level.
#pragma once

#include "sort/sort_cpu.hpp"

namespace tilewise::impl::sort {

/// Sorted codes.
template <class Bits, class Value>
struct sorted_run {
  const Bits* keys;
  const Value* values;
  std::uint64_t n;
};

/// Elements that are sorted at once, by their ranks. Of 8, 16 and 32 the quickest with AVX2 and with AVX-512.
inline constexpr std::uint64_t rank_run = 16;

template <class Bits, class Value>
struct merge_kernels {
  /// Makes sorted runs of rank_run codes from n keys, written decoded with `after`. `values` null: indices from
  /// `first`.
  void (*make_runs)(const Bits* keys, const Value* values, std::uint64_t first, std::uint64_t n, sort_code<Bits> before,
                    sort_code<Bits> after, elements<Bits, Value> out);
  /// Merges codes, those of `a` first where they are equal; written decoded with `after`.
  void (*merge)(sorted_run<Bits, Value> a, sorted_run<Bits, Value> b, sort_code<Bits> after, elements<Bits, Value> out);
};

// clang-format off
namespace v2 { template <class Bits, class Value> const merge_kernels<Bits, Value>& merging(); }
namespace v3 { template <class Bits, class Value> const merge_kernels<Bits, Value>& merging(); }
namespace v4 { template <class Bits, class Value> const merge_kernels<Bits, Value>& merging(); }
// clang-format on

}  // namespace tilewise::impl::sort
