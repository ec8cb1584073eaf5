// SPDX-License-Identifier: Apache-2.0
// What:   the order of keys as one bijection between their bits and unsigned codes, in which smaller comes first.
// Order:  ascending floats run -infinity ... -0.0 +0.0 ... +infinity NaN: the usual flip of the sign, then minus the
//         number of negative NaNs, so that those wrap round to the top. A descending code is the complement.
// Limits: usable in host and device code; an encoding costs five integer operations for every type.
// Twins:  key_code.cl.
#pragma once

#include "order/operators.hpp"

#include <type_traits>

namespace tilewise::impl::sort {

template <class Bits>  // std::uint32_t or std::uint64_t
struct sort_code {
  Bits of_positive;  // flipped in keys without the top bit
  Bits of_negative;  // flipped in keys with it
  Bits wrapped;      // codes below this one go to the top
  Bits complement;   // flipped last

  // Always inlined: files that are compiled for several instruction sets must leave no copy to the linker.
  [[gnu::always_inline]] TILEWISE_ANYWHERE constexpr Bits encode(Bits key) const {
    return ((key ^ (is_top(key) ? of_negative : of_positive)) - wrapped) ^ complement;
  }
  [[gnu::always_inline]] TILEWISE_ANYWHERE constexpr Bits decode(Bits code) const {
    const Bits flipped = (code ^ complement) + wrapped;
    return flipped ^ (is_top(flipped ^ of_positive) ? of_negative : of_positive);
  }
  /// Whether codes are keys.
  [[gnu::always_inline]] TILEWISE_ANYWHERE constexpr bool is_identity() const {
    return (of_positive | of_negative | wrapped | complement) == 0;
  }

 private:
  [[gnu::always_inline]] TILEWISE_ANYWHERE static constexpr bool is_top(Bits bits) {
    return (bits >> (8 * sizeof(Bits) - 1)) != 0;
  }
};

template <class T>
using key_bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
constexpr sort_code<key_bits<T>> code_of(bool descending) {
  using bits = key_bits<T>;
  constexpr bits top = bits(1) << (8 * sizeof(T) - 1);
  const bits complement = descending ? ~bits(0) : bits(0);
  if constexpr (std::is_floating_point_v<T>) {
    constexpr bits negative_nans = (bits(1) << (std::numeric_limits<T>::digits - 1)) - 1;
    return {top, ~bits(0), negative_nans, complement};
  }
  constexpr bits sign = std::is_signed_v<T> ? top : bits(0);
  return {sign, sign, 0, complement};
}

// Keys of 4 or 8 bytes in memory that has addresses, each alone or with 4 or 8 bytes beside it: all that kernels see.

/// What moves with a key of a sort of keys alone.
struct nothing {};

template <class Value>
inline constexpr bool moves = !std::is_same_v<Value, nothing>;

/// Keys with what moves with them: a piece of the input, the output or the workspace.
template <class Bits, class Value>
struct elements {
  Bits* keys;
  Value* values;  // null in the input: an element's value is its index
};

}  // namespace tilewise::impl::sort
