// SPDX-License-Identifier: Apache-2.0
// Parts codes in two by vectors: what is less than a pivot, and the rest. Only for kernel files: everything is in the
// namespace of the level that they are compiled for. AVX-512 has an instruction that moves the chosen lanes of a vector
// together, AVX2 permutes lanes by a table; below that nothing is parted. Source: M. Blacher, J. Giesen, P. Sanders,
// J. Wassenberg, Vectorized and performance-portable Quicksort (2022).
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

#elif defined(__AVX2__)

template <parted_by By, class Bits>
[[gnu::always_inline]] inline unsigned lanes_before(level::vector<Bits> codes, level::vector<Bits> pivot) {
  const auto is_before = By == parted_by::less ? codes < pivot : codes <= pivot;
  if constexpr (sizeof(Bits) == 4)
    return static_cast<unsigned>(_mm256_movemask_ps((__m256)is_before));
  else
    return static_cast<unsigned>(_mm256_movemask_pd((__m256d)is_before));
}

/// For each choice of lanes the numbers of their 4-byte lanes, a byte each.
template <class Bits>
struct lane_table {
  std::uint64_t chosen[1u << level::lanes<Bits>];

  constexpr lane_table() : chosen{} {
    constexpr unsigned parts = sizeof(Bits) / 4;
    for (unsigned which = 0; which < 1u << level::lanes<Bits>; ++which)
      for (unsigned part = 0, at = 0; part < parts * level::lanes<Bits>; ++part)
        if ((which >> part / parts & 1) != 0) chosen[which] |= std::uint64_t{part} << 8 * at++;
  }
};
template <class Bits>
inline constexpr lane_table<Bits> lanes_of;

template <class Bits>
[[gnu::always_inline]] inline level::vector<Bits> compressed(level::vector<Bits> codes, unsigned which) {
  const __m128i numbers = _mm_cvtsi64_si128(static_cast<long long>(lanes_of<Bits>.chosen[which]));
  return (level::vector<Bits>)_mm256_permutevar8x32_epi32((__m256i)codes, _mm256_cvtepu8_epi32(numbers));
}

#endif

#if defined(__AVX2__)

inline constexpr bool can_partition = true;

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
  for (; i < n; ++i) {
    const Bits some = codes[i];
    const bool is_before = By == parted_by::less ? some < pivot : some <= pivot;
    *before = some;
    *rest = some;
    before += is_before ? 1 : 0;
    rest += is_before ? 0 : 1;
  }
  return static_cast<std::uint64_t>(before - other);
}

#else

inline constexpr bool can_partition = false;

#endif

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
