// SPDX-License-Identifier: Apache-2.0
// Keys of 4 or 8 bytes in memory that has addresses, each alone or with 4 or 8 bytes beside it: all that kernels see.
#pragma once

#include <type_traits>

namespace tilewise::impl::sort {

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
