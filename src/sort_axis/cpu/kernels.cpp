// SPDX-License-Identifier: Apache-2.0
// What:   short lines of a matrix sorted side by side, one in each lane of vectors; compiled for each x86-64 level.
// Order:  by code (sort/code.hpp). Networks are not stable, but equal codes are equal bits, so this does not show.
// Shape:  codes are copied so that lines are side by side, for rows and for columns. Each comparator is a minimum and a
//         maximum of whole vectors.
// Limits: as many lines as a block has lanes; all of them are read before any is written.
// Twins:  serial.cpp; the network is that of sort/network.hpp.
#include "sort_axis/cpu/kernels.hpp"

namespace tilewise::impl::sort_axis::TILEWISE_LEVEL {

namespace {

template <class Bits>
[[gnu::always_inline]] inline void order(Bits* __restrict low, Bits* __restrict high) {
  for (unsigned l = 0; l < lanes<Bits>; ++l) {
    const Bits a = low[l], b = high[l];
    low[l] = a < b ? a : b;
    high[l] = a < b ? b : a;
  }
}

/// Calls move(l, e) for each element e of each line l, in the order in which memory lies.
template <class Bits, class Move>
[[gnu::always_inline]] inline void for_each_element(const some_lines<const Bits>& along, std::uint64_t count,
                                                    std::uint64_t length, Move move) {
  if (along.line == 1) {
    for (std::uint64_t e = 0; e < length; ++e)
      for (std::uint64_t l = 0; l < count; ++l) move(l, e);
  } else {
    for (std::uint64_t l = 0; l < count; ++l)
      for (std::uint64_t e = 0; e < length; ++e) move(l, e);
  }
}

template <class Bits>
void sort_side_by_side(some_lines<const Bits> from, some_lines<Bits> to, std::uint64_t count, std::uint64_t length,
                       network by, sort::sort_code<Bits> code, Bits* scratch) {
  for_each_element(from, count, length, [&](std::uint64_t l, std::uint64_t e) {
    scratch[e * lanes<Bits> + l] = code.encode(from.at[l * from.line + e * from.element]);
  });
  for (std::uint64_t i = 0; i < by.count; ++i)
    order(scratch + by.all[i].low * lanes<Bits>, scratch + by.all[i].high * lanes<Bits>);
  for_each_element(from, count, length, [&](std::uint64_t l, std::uint64_t e) {
    to.at[l * to.line + e * to.element] = code.decode(scratch[e * lanes<Bits> + l]);
  });
}

}  // namespace

template <class Bits>
const cpu_kernels<Bits>& kernels() {
  static constexpr cpu_kernels<Bits> table{sort_side_by_side<Bits>};
  return table;
}

template const cpu_kernels<std::uint32_t>& kernels<std::uint32_t>();
template const cpu_kernels<std::uint64_t>& kernels<std::uint64_t>();

}  // namespace tilewise::impl::sort_axis::TILEWISE_LEVEL
