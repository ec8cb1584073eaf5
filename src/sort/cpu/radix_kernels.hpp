// SPDX-License-Identifier: Apache-2.0
// What radix_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"
#include "sort/code.hpp"

#include <cstddef>

namespace tilewise::impl::sort {

inline constexpr unsigned widest_digit = 11;

/// Up to widest_digit neighbouring bits of a code.
template <class Bits>
struct digit {
  static constexpr unsigned most_values = 1u << widest_digit;

  unsigned shift, width;

  [[gnu::always_inline]] constexpr unsigned of(Bits code) const {
    return static_cast<unsigned>(code >> shift) & ((1u << width) - 1);
  }
  [[gnu::always_inline]] constexpr unsigned values() const { return 1u << width; }
};

inline constexpr unsigned most_buckets = 4096;

/// Digits of unequal width: the leading bits of a code and some of the bits below choose its bucket. How many bits
/// below depends on the leading bits, so that all buckets have about the same size. Bucket numbers ascend with the
/// codes.
template <class Bits>
struct splits {
  static constexpr unsigned most_values = most_buckets;

  /// For all codes with the same leading bits: the bucket is `first` plus the code shifted right by `shift`. The sum
  /// may wrap around.
  struct part {
    std::uint32_t first, shift;
  };

  const part* parts;
  unsigned shift;  // shifting a masked code right by this leaves its leading bits
  unsigned buckets;
  Bits mask;  // the leading bits and all below; the bits above are assumed to be the same in all codes

  [[gnu::always_inline]] constexpr unsigned of(Bits code) const {
    code &= mask;
    const part p = parts[code >> shift];
    return p.first + static_cast<std::uint32_t>(code >> p.shift);
  }
  [[gnu::always_inline]] constexpr unsigned values() const { return buckets; }
};

/// The bits that are set in any code of a set, and the bits that are set in all of them.
template <class Bits>
struct common_bits {
  Bits any, all;
};

/// Moves the elements of one tile to the places that their digits give.
template <class Bits, class Value, class By>
struct scatter_task {
  const Bits* keys;
  const Value* values;  // null: an element's value is its index
  std::uint64_t begin, end;
  elements<Bits, Value> out;
  sort_code<Bits> before, after;  // keys are encoded with `before` and decoded with `after`
  By by;
  const std::uint64_t* first;  // place of the tile's first element with each digit
  std::byte* scratch;          // scatter_scratch bytes, aligned to a cache line
  bool combine;                // collect whole cache lines before writing
  bool stream;                 // write these lines past the caches
};

inline constexpr std::uint64_t cache_line = 64;

template <class By>
constexpr std::uint64_t scatter_scratch(const By& by) {
  return by.values() * 2 * cache_line;
}

template <class Bits>
struct radix_key_kernels {
  common_bits<Bits> (*common)(const Bits* keys, std::uint64_t n, sort_code<Bits> code);
  /// Adds to counts[d] the number of keys with digit d.
  void (*count)(const Bits* keys, std::uint64_t n, sort_code<Bits> code, const digit<Bits>& by, std::uint64_t* counts);
  /// Adds to counts[b] the number of keys in bucket b. Returns the common bits of all codes.
  common_bits<Bits> (*count_buckets)(const Bits* keys, std::uint64_t n, sort_code<Bits> code, const splits<Bits>& by,
                                     std::uint64_t* counts);
};

template <class Bits, class Value>
struct radix_kernels {
  void (*scatter)(const scatter_task<Bits, Value, digit<Bits>>& task);
  void (*scatter_to_buckets)(const scatter_task<Bits, Value, splits<Bits>>& task);
  /// Sorts [begin, end) by insertion. Gives up after more than `moves` moves and returns false: all elements are still
  /// there, but not sorted.
  bool (*insert)(elements<Bits, Value> where, std::uint64_t begin, std::uint64_t end, sort_code<Bits> code,
                 std::uint64_t moves);
};

TILEWISE_AT_EACH_LEVEL(template <class Bits> const radix_key_kernels<Bits>& key_kernels();)
TILEWISE_AT_EACH_LEVEL(template <class Bits, class Value> const radix_kernels<Bits, Value>& kernels();)

template <class Bits>
const radix_key_kernels<Bits>& radix_key_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, key_kernels<Bits>)();
}

template <class Bits, class Value>
const radix_kernels<Bits, Value>& radix_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, kernels<Bits, Value>)();
}

}  // namespace tilewise::impl::sort
