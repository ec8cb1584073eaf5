// SPDX-License-Identifier: Apache-2.0
// Parts codes in two by vectors: what is less than a pivot, and the rest. Only for kernel files: everything is in the
// namespace of the level that they are compiled for, and there only where it has an instruction that moves the chosen
// lanes of a vector together. Source: M. Blacher, J. Giesen, P. Sanders, J. Wassenberg, Vectorized and
// performance-portable Quicksort (2022).
#pragma once

#include "backend/cpu/cpu_vector.hpp"

#include <cstdint>

namespace tilewise::impl::sort::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

enum class parted_by : bool { less, less_or_equal };

/// Moves the codes before the pivot to `other`, and the rest together to the beginning of where all n are; returns how
/// many came before it. Memory is written a whole vector at a time, but never beyond what has been read: of `other` no
/// more than n elements. Defined where `can_partition`.
template <parted_by By, class Bits>
std::uint64_t partition(Bits* codes, std::uint64_t n, Bits pivot, Bits* other);

#if defined(__AVX512F__)

inline constexpr bool can_partition = true;

template <parted_by By, class Bits>
[[gnu::always_inline]] inline unsigned lanes_before(level::vector<Bits> codes, level::vector<Bits> pivot) {
  constexpr int how = By == parted_by::less ? _MM_CMPINT_LT : _MM_CMPINT_LE;
  if constexpr (sizeof(Bits) == 4)
    return _mm512_cmp_epu32_mask((__m512i)codes, (__m512i)pivot, how);
  else
    return _mm512_cmp_epu64_mask((__m512i)codes, (__m512i)pivot, how);
}

template <class Bits>
[[gnu::always_inline]] inline level::vector<Bits> compressed(level::vector<Bits> codes, unsigned which) {
  if constexpr (sizeof(Bits) == 4)
    return (level::vector<Bits>)_mm512_maskz_compress_epi32(static_cast<__mmask16>(which), (__m512i)codes);
  else
    return (level::vector<Bits>)_mm512_maskz_compress_epi64(static_cast<__mmask8>(which), (__m512i)codes);
}

template <parted_by By, class Bits>
std::uint64_t partition(Bits* codes, std::uint64_t n, Bits pivot, Bits* other) {
  constexpr unsigned lanes = level::lanes<Bits>, all = (1u << lanes) - 1;
  const level::vector<Bits> pivots = level::broadcast(pivot);
  Bits *before = other, *rest = codes;
  std::uint64_t i = 0;
#pragma GCC unroll 4
  for (; i + lanes <= n; i += lanes) {
    const level::vector<Bits> some = level::load(codes + i);
    const unsigned which = lanes_before<By, Bits>(some, pivots);
    level::store<Bits>(before, compressed<Bits>(some, which));
    level::store<Bits>(rest, compressed<Bits>(some, ~which & all));
    const unsigned count = static_cast<unsigned>(__builtin_popcount(which));
    before += count;
    rest += lanes - count;
  }
  const unsigned left = static_cast<unsigned>(n - i), last = (1u << left) - 1;
  const level::vector<Bits> some = level::load_first(codes + i, left);
  const unsigned which = lanes_before<By, Bits>(some, pivots) & last;
  const unsigned count = static_cast<unsigned>(__builtin_popcount(which));
  level::store_first<Bits>(before, compressed<Bits>(some, which), count);
  level::store_first<Bits>(rest, compressed<Bits>(some, ~which & last), left - count);
  return static_cast<std::uint64_t>(before - other) + count;
}

#else

inline constexpr bool can_partition = false;

#endif

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
