// SPDX-License-Identifier: Apache-2.0
// What:   each lane sorts the elements that it holds in registers, by the network of network.hpp. Lanes merge their
//         runs by Batcher's bitonic network: within a warp by shuffles, otherwise by a function of the caller.
// Order:  by code; where codes are equal, the one from the earlier place comes first, so equal codes keep their order.
// Shape:  the network is known at compile time, so every element has its own register.
// Limits: n elements of a lane take about n * log2(n)^2 / 4 comparators, each of which is code.
// Twins:  tw_sort_held in sort_axis/opencl/program.cl.
//
// Source: Batcher, Sorting networks and their applications, 1968.
#pragma once

#include "backend/cuda/warp.cuh"
#include "sort/network.hpp"
#include "sort/operands.hpp"

#include <array>
#include <type_traits>
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

/// Compares the elements of two lanes pair by pair. The lower lane keeps the lesser of each pair.
template <class Bits, class Value, unsigned Held>
__device__ void keep_half(held_elements<Bits, Value, Held>& own, const held_elements<Bits, Value, Held>& other,
                          bool is_lower) {
#pragma unroll
  for (unsigned i = 0; i < Held; ++i) {
    if constexpr (moves<Value>) {
      const bool is_less = other.key[i] < own.key[i] || (other.key[i] == own.key[i] && other.from[i] < own.from[i]);
      own.key[i] = is_less == is_lower ? other.key[i] : own.key[i];
      own.from[i] = is_less == is_lower ? other.from[i] : own.from[i];
    } else {
      own.key[i] = is_lower ? min(own.key[i], other.key[i]) : max(own.key[i], other.key[i]);
    }
  }
}

/// Exchanges elements with the lane whose number differs in the bits of `across`. Pairs have equal indices or, if
/// mirrored, opposite indices.
template <bool Mirrored, class Bits, class Value, unsigned Held>
__device__ void meet_in_warp(held_elements<Bits, Value, Held>& own, unsigned across) {
  held_elements<Bits, Value, Held> other;
#pragma unroll
  for (unsigned i = 0; i < Held; ++i) {
    const unsigned theirs = Mirrored ? Held - 1 - i : i;
    other.key[i] = __shfl_xor_sync(all_lanes, own.key[theirs], across);
    if constexpr (moves<Value>)
      other.from[i] = static_cast<unsigned short>(__shfl_xor_sync(all_lanes, unsigned{own.from[theirs]}, across));
  }
  keep_half(own, other, (threadIdx.x ^ across) > threadIdx.x);
}

/// The last steps of a bitonic merge, within the lane.
template <unsigned Distance, class Bits, class Value, unsigned Held>
__device__ void merge_held(held_elements<Bits, Value, Held>& own) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    // I with a 0 put in before the bits of Distance.
    (exchange<I / Distance * 2 * Distance + I % Distance, (I / Distance * 2 + 1) * Distance + I % Distance>(own), ...);
  }
  (std::make_index_sequence<Held / 2>{});
  if constexpr (Distance > 1) merge_held<Distance / 2>(own);
}

/// Sorts the elements of `lanes` neighbouring lanes, a power of two: merges the runs of two lanes, of four, and so on.
/// meet(mirrored, across) compares the elements of two lanes; `mirrored` is a compile-time constant.
template <class Bits, class Value, unsigned Held, class Meet>
__device__ void sort_lanes(held_elements<Bits, Value, Held>& own, unsigned lanes, const Meet& meet) {
  sort_held(own);
#pragma unroll 1
  for (unsigned run = 1; run < lanes; run *= 2) {
    meet(std::true_type{}, 2 * run - 1);
#pragma unroll 1
    for (unsigned distance = run / 2; distance > 0; distance /= 2) meet(std::false_type{}, distance);
    merge_held<Held / 2>(own);
  }
}

template <class Bits, class Value, unsigned Held>
__device__ void sort_warp(held_elements<Bits, Value, Held>& own) {
  sort_lanes(own, warp_size, [&](auto mirrored, unsigned across) { meet_in_warp<mirrored.value>(own, across); });
}

}  // namespace tilewise::impl::sort::on_cuda
