// SPDX-License-Identifier: Apache-2.0
// The carries of an array that is scanned in parts: by pieces of a call that continues, chunks of the host's memory or
// of a file, or ranks of a group. A part's carry is the prefix before it and the prefix after it, each the fold of the
// values of all blocks up to there.
#pragma once

#include "order/segment.hpp"
#include "scan/problem.hpp"

#include <array>
#include <vector>

namespace tilewise::impl::scan {

/// Elements [first, first + count) of the longer array, within one aligned block, and their carry.
template <class T>
struct part {
  std::uint64_t first, count;
  std::array<T, 2> carry;
};

/// What precedes the next part.
template <class Op, class T>
class carry_chain {
 public:
  /// The next part follows the elements of `done`, to which each part is appended. If these are themselves a part of an
  /// array, `before` is the prefix before it.
  explicit carry_chain(order::segment<T>& done, T before = Op::template identity<T>()) : done_(done), before_(before) {}

  /// Calls `append()`, which appends the blocks of the next part to the segment, and returns its carry.
  template <class Append>
  std::array<T, 2> pass(const Append& append) {
    const T before = prefix();
    append();
    return {before, prefix()};
  }

  /// Appends the segment `own` in parts, each within one aligned block.
  std::vector<part<T>> parts_of(const order::segment<T>& own) {
    std::vector<part<T>> all;
    const T* value = own.value.data();
    while (done_.end != own.end) {
      const std::uint64_t first = done_.end, count = piece_length(first, own.end - first);
      all.push_back({first, count, pass([&] {
                       order::for_each_block(first, first + count, [&](std::uint64_t, unsigned level) {
                         order::append<Op>(done_, *value++, level);
                       });
                     })});
    }
    return all;
  }

 private:
  T prefix() const { return order::fold_onto<Op>(before_, done_); }

  order::segment<T>& done_;
  T before_;
};

}  // namespace tilewise::impl::scan
