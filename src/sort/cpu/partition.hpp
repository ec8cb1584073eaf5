// SPDX-License-Identifier: Apache-2.0
// Parts codes in two with vector instructions: codes before a pivot, and the rest. AVX-512 has an instruction that
// packs the chosen lanes of a vector. AVX2 uses a permutation from a table, which puts the chosen lanes first. Levels
// below AVX2 do not part. Only for kernel files: everything is in the namespace of the level that they are compiled
// for. Source: M. Blacher, J. Giesen, P. Sanders, J. Wassenberg, Vectorized and performance-portable Quicksort (2022).
#pragma once

#include "backend/cpu/vector.hpp"

#include <cstdint>

namespace tilewise::impl::sort::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

enum class parted_by : bool { less, less_or_equal };

/// Codes in two parts, each with a workspace of its size.
template <class Code>
struct halves {
  std::uint64_t count;  // codes before the pivot
  Code *before, *before_room, *rest, *rest_room;
};

/// Parts n codes; `room` is a workspace of n elements. Writes whole vectors, but never beyond `room`, and never over
/// codes that it has not read. Defined only if `can_partition`.
template <parted_by By, class Code>
halves<Code> partition(Code* codes, std::uint64_t n, Code pivot, Code* room);

/// Whether one code comes before the pivot.
template <parted_by By, class Code>
[[gnu::always_inline]] inline bool is_before(Code code, Code pivot) {
  return By == parted_by::less ? code < pivot : code <= pivot;
}

#if defined(__AVX512F__)

inline constexpr bool can_partition = true;

template <parted_by By, class Code>
[[gnu::always_inline]] inline unsigned lanes_before(level::vector<Code> codes, level::vector<Code> pivot) {
  constexpr int how = By == parted_by::less ? _MM_CMPINT_LT : _MM_CMPINT_LE;
  if constexpr (sizeof(Code) == 4)
    return _mm512_cmp_epu32_mask((__m512i)codes, (__m512i)pivot, how);
  else
    return _mm512_cmp_epu64_mask((__m512i)codes, (__m512i)pivot, how);
}

template <class Code>
[[gnu::always_inline]] inline level::vector<Code> compressed(level::vector<Code> codes, unsigned which) {
  if constexpr (sizeof(Code) == 4)
    return (level::vector<Code>)_mm512_maskz_compress_epi32(static_cast<__mmask16>(which), (__m512i)codes);
  else
    return (level::vector<Code>)_mm512_maskz_compress_epi64(static_cast<__mmask8>(which), (__m512i)codes);
}

/// Codes before the pivot go to `room`; the rest stays in `codes`.
template <parted_by By, class Code>
halves<Code> partition(Code* codes, std::uint64_t n, Code pivot, Code* room) {
  constexpr unsigned lanes = level::lanes<Code>, all = (1u << lanes) - 1;
  const level::vector<Code> pivots = level::broadcast(pivot);
  Code *before = room, *rest = codes;
  std::uint64_t i = 0;
#pragma GCC unroll 4
  for (; i + lanes <= n; i += lanes) {
    const level::vector<Code> some = level::load(codes + i);
    const unsigned which = lanes_before<By, Code>(some, pivots);
    level::store<Code>(before, compressed<Code>(some, which));
    level::store<Code>(rest, compressed<Code>(some, ~which & all));
    const unsigned count = static_cast<unsigned>(__builtin_popcount(which));
    before += count;
    rest += lanes - count;
  }
  for (; i < n; ++i) {
    const Code some = codes[i];
    *before = some;
    *rest = some;
    before += is_before<By>(some, pivot) ? 1 : 0;
    rest += is_before<By>(some, pivot) ? 0 : 1;
  }
  return {static_cast<std::uint64_t>(before - room), room, rest, codes, before};
}

#elif defined(__AVX2__)

inline constexpr bool can_partition = true;

template <parted_by By, class Code>
[[gnu::always_inline]] inline unsigned lanes_before(level::vector<Code> codes, level::vector<Code> pivot) {
  const auto mask = By == parted_by::less ? codes < pivot : codes <= pivot;
  if constexpr (sizeof(Code) == 4)
    return static_cast<unsigned>(_mm256_movemask_ps((__m256)mask));
  else
    return static_cast<unsigned>(_mm256_movemask_pd((__m256d)mask));
}

/// For each set of chosen lanes: the numbers of their 4-byte lanes, one byte each, followed by those of the other
/// lanes.
template <class Code>
struct lane_table {
  std::uint64_t order[1u << level::lanes<Code>];

  constexpr lane_table() : order{} {
    constexpr unsigned parts = sizeof(Code) / 4, all = parts * level::lanes<Code>;
    for (unsigned which = 0; which < 1u << level::lanes<Code>; ++which)
      for (unsigned at = 0, others = 0; others < 2; ++others)
        for (unsigned part = 0; part < all; ++part)
          if ((which >> part / parts & 1) != others) order[which] |= std::uint64_t{part} << 8 * at++;
  }
};
template <class Code>
inline constexpr lane_table<Code> lanes_of;

template <class Code>
[[gnu::always_inline]] inline level::vector<Code> chosen_first(level::vector<Code> codes, unsigned which) {
  const __m128i numbers = _mm_cvtsi64_si128(static_cast<long long>(lanes_of<Code>.order[which]));
  return (level::vector<Code>)_mm256_permutevar8x32_epi32((__m256i)codes, _mm256_cvtepu8_epi32(numbers));
}

/// Both parts go to `room`, the rest from its end downwards, so that one permutation of a vector serves both.
template <parted_by By, class Code>
halves<Code> partition(Code* codes, std::uint64_t n, Code pivot, Code* room) {
  constexpr unsigned lanes = level::lanes<Code>;
  const level::vector<Code> pivots = level::broadcast(pivot);
  Code* before = room;
  std::uint64_t left = n;  // codes not yet read; the gap in `room` between the two parts is as long
#pragma GCC unroll 4
  for (; left >= 2 * lanes; codes += lanes, left -= lanes) {
    const level::vector<Code> some = level::load(codes);
    const unsigned which = lanes_before<By, Code>(some, pivots);
    const level::vector<Code> moved = chosen_first<Code>(some, which);
    level::store<Code>(before, moved);
    level::store<Code>(before + left - lanes, moved);
    before += __builtin_popcount(which);
  }
  for (; left != 0; ++codes, --left) {
    const Code some = *codes;
    *before = some;
    before[left - 1] = some;
    before += is_before<By>(some, pivot) ? 1 : 0;
  }
  const auto count = static_cast<std::uint64_t>(before - room);
  return {count, room, codes - n, before, codes - n + count};
}

#else

inline constexpr bool can_partition = false;

#endif

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
