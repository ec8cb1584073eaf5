// SPDX-License-Identifier: Apache-2.0
// What:   each lane sorts the elements that it holds in registers, by the network of sort_network.hpp.
// Order:  by code; of equal codes the one from the earlier place comes first, so equal codes keep their order.
// Shape:  the network is known at compile time, so every element has its own register.
// Limits: n elements take about n * log2(n)^2 / 4 comparators, each of which is code.
// Twins:  none.
#pragma once

#include "sort/sort_network.hpp"
#include "sort/sort_operands.hpp"

#include <array>
#include <utility>

namespace tilewise::impl::sort::on_cuda {

constexpr unsigned count_comparators(unsigned n) {
  unsigned count = 0;
  for_each_comparator(n, [&](unsigned, unsigned) { ++count; });
  return count;
}

struct comparator {
  unsigned low, high;
};

template <unsigned N>
inline constexpr auto network = [] {
  std::array<comparator, count_comparators(N)> all{};
  unsigned count = 0;
  for_each_comparator(N, [&](unsigned low, unsigned high) { all[count++] = {low, high}; });
  return all;
}();

/// A lane's elements in registers, with the places in the tile that they came from.
template <class Bits, class Value, unsigned Held>
struct held_elements {
  Bits key[Held];
  unsigned short from[moves<Value> ? Held : 1];
};

template <unsigned Low, unsigned High, class Bits, class Value, unsigned Held>
__device__ void exchange(held_elements<Bits, Value, Held>& own) {
  const Bits a = own.key[Low], b = own.key[High];
  if constexpr (moves<Value>) {
    const unsigned short from_a = own.from[Low], from_b = own.from[High];
    const bool swap = a > b || (a == b && from_a > from_b);
    own.key[Low] = swap ? b : a, own.key[High] = swap ? a : b;
    own.from[Low] = swap ? from_b : from_a, own.from[High] = swap ? from_a : from_b;
  } else {
    own.key[Low] = min(a, b), own.key[High] = max(a, b);
  }
}

template <class Bits, class Value, unsigned Held>
__device__ void sort_held(held_elements<Bits, Value, Held>& own) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (exchange<network<Held>[I].low, network<Held>[I].high>(own), ...);
  }
  (std::make_index_sequence<network<Held>.size()>{});
}

}  // namespace tilewise::impl::sort::on_cuda
