// SPDX-License-Identifier: Apache-2.0
// What:   maps the bits of keys to unsigned codes, one to one, so that a key with a smaller code comes first.
// Order:  ascending floats run -infinity ... -0.0 +0.0 ... +infinity NaN: the usual flip of the sign, then minus the
//         number of negative NaNs, so that negative NaNs wrap around to the top. A descending code is the complement.
// Limits: usable in host and device code; an encoding costs five integer operations for every type.
// Twins:  key_code.cl.
#pragma once

#include "order/operators.hpp"

#include <type_traits>

namespace tilewise::impl::sort {

template <class Bits>  // std::uint32_t or std::uint64_t
struct sort_code {
  Bits of_positive;  // bits flipped in keys whose top bit is 0
  Bits of_negative;  // bits flipped in keys whose top bit is 1
  Bits wrapped;      // subtracted next: codes below this one wrap around to the top
  Bits complement;   // bits flipped last

  // Always inlined: files that are compiled for several instruction sets must leave no copy to the linker.
  [[gnu::always_inline]] TILEWISE_ANYWHERE constexpr Bits encode(Bits key) const {
    return ((key ^ (is_top(key) ? of_negative : of_positive)) - wrapped) ^ complement;
  }
  [[gnu::always_inline]] TILEWISE_ANYWHERE constexpr Bits decode(Bits code) const {
    const Bits flipped = (code ^ complement) + wrapped;
    return flipped ^ (is_top(flipped ^ of_positive) ? of_negative : of_positive);
  }
  /// Whether each code equals its key.
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

// Kernels see only the sizes of types: keys of 4 or 8 bytes, each alone or with a value of 4 or 8 bytes. This holds for
// memory that has addresses.

/// The value type of a sort of keys alone.
struct nothing {};

/// Whether values move with the keys.
template <class Value>
inline constexpr bool moves = !std::is_same_v<Value, nothing>;

/// Keys and their values: a range of the input, the output or the workspace.
template <class Bits, class Value>
struct elements {
  Bits* keys;
  Value* values;  // null in the input: an element's value is its index
};

}  // namespace tilewise::impl::sort
