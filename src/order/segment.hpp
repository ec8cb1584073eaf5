// SPDX-License-Identifier: Apache-2.0
// What:   the values of the aligned blocks that make up a part [begin, end) of an array.
// Order:  the blocks are the largest ones within the part, so they depend only on its ends. append merges two blocks as
//         soon as both halves of a larger block exist; a merged value is a node of the array's one tree.
// Shape:  at most 63 blocks of ascending length up to the position with the most trailing zeros, and 63 of descending
//         length after it; levels are not stored, since the ends imply them.
// Limits: end < 2^64.
// Twins:  block_stack.hpp is a segment that begins at 0.
#pragma once

#include "order/operators.hpp"

#include <tilewise/partial.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace tilewise::order {

/// The number of blocks that make up [begin, end).
constexpr unsigned block_count(std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return 0;
  const unsigned highest = static_cast<unsigned>(std::bit_width(begin ^ end)) - 1;
  const std::uint64_t border = end >> highest << highest;
  return static_cast<unsigned>(std::popcount(border - begin) + std::popcount(end - border));
}

/// The level of the largest block that begins at `first` and does not reach beyond `end` > first.
constexpr unsigned block_level(std::uint64_t first, std::uint64_t end) {
  const unsigned fits = static_cast<unsigned>(std::bit_width(end - first)) - 1;
  return first == 0 ? fits : std::min(fits, static_cast<unsigned>(std::countr_zero(first)));
}

/// Calls f(first, level) for each block of [begin, end), in order of position.
template <class F>
void for_each_block(std::uint64_t begin, std::uint64_t end, F f) {
  while (begin != end) {
    const unsigned level = block_level(begin, end);
    f(begin, level);
    begin += std::uint64_t{1} << level;
  }
}

/// Appends the value of the next 2^level elements. The end must be a multiple of 2^level.
template <class Op, class T>
void append(segment<T>& to, T value, unsigned level) {
  unsigned count = block_count(to.begin, to.end);
  std::uint64_t first = to.end;
  to.end += std::uint64_t{1} << level;
  value = canonical(value);
  for (; (first >> level & 1) != 0 && first - (std::uint64_t{1} << level) >= to.begin; ++level) {
    value = canonical(Op::template apply<T>(std::exchange(to.value[--count], T{}), value));
    first -= std::uint64_t{1} << level;
  }
  to.value[count] = value;
}

/// Appends the neighbouring segment on the right, which must begin at to.end.
template <class Op, class T>
void append(segment<T>& to, const segment<T>& right) {
  const T* value = right.value.data();
  for_each_block(right.begin, right.end, [&](std::uint64_t, unsigned level) { append<Op>(to, *value++, level); });
}

/// `prefix` followed by the values of all blocks. The caller must make a NaN canonical.
template <class Op, class T>
T fold_onto(T prefix, const segment<T>& of) {
  for (unsigned i = 0; i < block_count(of.begin, of.end); ++i) prefix = Op::template apply<T>(prefix, of.value[i]);
  return prefix;
}

/// P(end) of a segment that begins at 0; the identity if it is empty.
template <class Op, class T>
T fold(const segment<T>& of) {
  return fold_onto<Op>(Op::template identity<T>(), of);
}

}  // namespace tilewise::order
