// SPDX-License-Identifier: Apache-2.0
// What:   the order itself: a stack of aligned blocks that counts in binary.
// Order:  push merges two blocks of equal length as soon as both exist, which gives a balanced tree over every aligned
//         block. fold joins the remaining blocks, longest first. So `fold` after m elements is the prefix P(m).
// Shape:  one value per bit of the count; O(1) amortised per push, O(log n) per fold.
// Twins:  every kernel of reduce and scan; they are compared with this.
#pragma once

#include "order/operators.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace tilewise::order {

template <class T, class Op>
class block_stack {
 public:
  /// Appends the block value of the next 2^level elements. The count must be a multiple of 2^level.
  void push(T value, unsigned level = 0) {
    const std::uint64_t added = std::uint64_t{1} << level;
    for (; (count_ >> level & 1) != 0; ++level) value = Op::template apply<T>(blocks_[level], value);
    blocks_[level] = value;
    count_ += added;
  }

  /// P(count), or the identity if nothing was pushed. The caller must make a NaN canonical.
  T fold() const { return fold_onto(Op::template identity<T>()); }

  /// The same with `first` as the leftmost operand. Note that this is not init + P(m): it continues the fold of an
  /// array whose blocks so far have the value `first`.
  T fold_onto(T first) const {
    for (std::uint64_t rest = count_; rest != 0;) {
      const unsigned level = static_cast<unsigned>(std::bit_width(rest)) - 1;
      first = Op::template apply<T>(first, blocks_[level]);
      rest ^= std::uint64_t{1} << level;
    }
    return first;
  }

  std::uint64_t count() const { return count_; }

 private:
  std::array<T, 64> blocks_{};
  std::uint64_t count_ = 0;
};

}  // namespace tilewise::order
