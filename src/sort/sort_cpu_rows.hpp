// SPDX-License-Identifier: Apache-2.0
// Networks that sort vectors of codes in registers: the lanes of one vector are a run. A comparison of two vectors
// settles as many pairs as they have lanes, without a branch. Only for kernel files: everything is in the namespace of
// the level that they are compiled for.
//
// A merge of two sorted vectors of W codes is Batcher's bitonic one: the second vector is turned round, and W, W/2, ...
// 1 places apart, what is out of order changes places. Before each step the codes are dealt to both vectors anew, so
// that the partners lie in the same lane; a last shuffle brings all to their places. With 4 lanes:
//
//   places    0 1 2 3 | 4 5 6 7   2 apart:  0 1 4 5 | 2 3 6 7   1 apart:  0 2 4 6 | 1 3 5 7
//
// Runs of several rows are merged alike, as long as all of them are in registers: the second run is turned round, rows
// and lanes; whole rows change places until none is out of order with another; then each row is sorted by itself.
#pragma once

#include "backend/cpu/cpu_vector.hpp"

namespace tilewise::impl::sort::TILEWISE_LEVEL {

/// A vector of so many bytes.
template <class Bits, unsigned Bytes>
struct row_of {
  typedef Bits type __attribute__((vector_size(Bytes)));
};

template <class Bits, unsigned Bytes>
struct rows {
  using row = typename row_of<Bits, Bytes>::type;
  static constexpr int lanes = Bytes / sizeof(Bits);
  static constexpr auto all_lanes = std::make_integer_sequence<int, lanes>();

  [[gnu::always_inline]] static row load(const Bits* from) {
    row r;
    __builtin_memcpy(&r, from, sizeof r);
    return r;
  }
  [[gnu::always_inline]] static void store(Bits* to, row r) { __builtin_memcpy(to, &r, sizeof r); }

  [[gnu::always_inline]] static void order(row& low, row& high) {
    const row less = low < high ? low : high;
    high = low < high ? high : low;
    low = less;
  }

  /// Two sorted rows become the lower and the upper half of both, each sorted.
  [[gnu::always_inline]] static void merge(row& low, row& high) {
    high = reversed(high, all_lanes);
    order(low, high);
    order_lanes(low, high);
  }

  /// Count rows, a multiple of the lanes, become one run.
  template <int Count>
  [[gnu::always_inline]] static void sort_block(row* r) {
#pragma GCC unroll 16
    for (int first = 0; first < Count; first += lanes) sort_columns(r + first);
    merge_all<Count, 1>(r);
  }

 private:
  /// For the step in which partners are `Apart`: the lane of both rows together from which lane `lane` of a row is
  /// dealt.
  template <int Apart>
  static constexpr int source(int of_high, int lane) {
    if (Apart == 1 && sizeof(Bits) == 4)  // in fours, as one instruction does it
      return (lane % 4 < 2 ? 0 : lanes) + lane / 4 * 4 + lane % 2 * 2 + of_high;
    const int group = lane / (2 * Apart) * (2 * Apart), within = lane % (2 * Apart);
    return (within < Apart ? 0 : lanes) + group + within % Apart + of_high * Apart;
  }

  /// The place of the code in each lane of both rows together.
  struct arrangement {
    int place[2 * lanes];
  };
  template <int Apart>
  static constexpr arrangement dealt(arrangement before) {
    arrangement after{};
    for (int lane = 0; lane < 2 * lanes; ++lane)
      after.place[lane] = before.place[source<Apart>(lane / lanes, lane % lanes)];
    return after;
  }
  static constexpr arrangement all_dealt() {
    arrangement a{};
    for (int lane = 0; lane < 2 * lanes; ++lane) a.place[lane] = lane;
    if constexpr (lanes >= 16) a = dealt<8>(a);
    if constexpr (lanes >= 8) a = dealt<4>(a);
    if constexpr (lanes >= 4) a = dealt<2>(a);
    return dealt<1>(a);
  }
  static constexpr int lane_of(int place) {
    const arrangement a = all_dealt();
    int lane = 0;
    while (a.place[lane] != place) ++lane;
    return lane;
  }

  template <int... I>
  [[gnu::always_inline]] static row reversed(row r, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(r, r, (lanes - 1 - I)...);
  }
  template <int Apart, int... I>
  [[gnu::always_inline]] static void deal(row& low, row& high, std::integer_sequence<int, I...>) {
    const row first = low, second = high;
    low = __builtin_shufflevector(first, second, source<Apart>(0, I)...);
    high = __builtin_shufflevector(first, second, source<Apart>(1, I)...);
  }
  template <int Apart>
  [[gnu::always_inline]] static void deal_and_order(row& low, row& high) {
    deal<Apart>(low, high, all_lanes);
    order(low, high);
  }
  template <int... I>
  [[gnu::always_inline]] static void to_places(row& low, row& high, std::integer_sequence<int, I...>) {
    const row first = low, second = high;
    low = __builtin_shufflevector(first, second, lane_of(I)...);
    high = __builtin_shufflevector(first, second, lane_of(lanes + I)...);
  }

  /// Batcher's odd-even merge sort, one comparator of it on all columns at once.
  [[gnu::always_inline]] static void order_columns(row* r) {
#pragma GCC unroll 16
    for (int run = 1; run < lanes; run *= 2)
#pragma GCC unroll 16
      for (int apart = run; apart >= 1; apart /= 2)
#pragma GCC unroll 16
        for (int first = apart % run; first + apart < lanes; first += 2 * apart)
#pragma GCC unroll 16
          for (int i = first; i < first + apart; ++i)
            if (i + apart < lanes && i / (2 * run) == (i + apart) / (2 * run)) order(r[i], r[i + apart]);
  }

  /// As many rows as lanes: each column becomes a sorted row.
  [[gnu::always_inline]] static void sort_columns(row* r) {
    order_columns(r);
    transpose(r);
  }

  /// Of two bitonic rows each is sorted.
  [[gnu::always_inline]] static void order_lanes(row& low, row& high) {
    if constexpr (lanes >= 16) deal_and_order<8>(low, high);
    if constexpr (lanes >= 8) deal_and_order<4>(low, high);
    if constexpr (lanes >= 4) deal_and_order<2>(low, high);
    deal_and_order<1>(low, high);
    to_places(low, high, all_lanes);
  }

  /// Two runs of Run rows each, one after the other, become one.
  template <int Run>
  [[gnu::always_inline]] static void merge_runs(row* r) {
#pragma GCC unroll 16
    for (int i = 0; i < (Run + 1) / 2; ++i) {
      const row turned = reversed(r[Run + i], all_lanes);
      r[Run + i] = reversed(r[2 * Run - 1 - i], all_lanes);
      r[2 * Run - 1 - i] = turned;
    }
#pragma GCC unroll 16
    for (int apart = Run; apart >= 1; apart /= 2)
#pragma GCC unroll 16
      for (int i = 0; i < 2 * Run; ++i)
        if ((i & apart) == 0) order(r[i], r[i + apart]);
#pragma GCC unroll 16
    for (int i = 0; i < 2 * Run; i += 2) order_lanes(r[i], r[i + 1]);
  }
  template <int Count, int Run>
  [[gnu::always_inline]] static void merge_all(row* r) {
    if constexpr (Run < Count) {
#pragma GCC unroll 16
      for (int first = 0; first < Count; first += 2 * Run) merge_runs<Run>(r + first);
      merge_all<Count, 2 * Run>(r);
    }
  }

  template <int Distance, int... I>
  [[gnu::always_inline]] static void exchange(row& a, row& b, std::integer_sequence<int, I...>) {
    const row first = a, second = b;
    a = __builtin_shufflevector(first, second, ((I & Distance) == 0 ? I : lanes + I - Distance)...);
    b = __builtin_shufflevector(first, second, ((I & Distance) == 0 ? I + Distance : lanes + I)...);
  }
  /// Blocks of Distance lanes change places across the diagonal.
  template <int Distance>
  [[gnu::always_inline]] static void exchange_blocks(row* r) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i)
      if ((i & Distance) == 0) exchange<Distance>(r[i], r[i + Distance], all_lanes);
  }
  [[gnu::always_inline]] static void transpose(row* r) {
    if constexpr (lanes >= 16) exchange_blocks<8>(r);
    if constexpr (lanes >= 8) exchange_blocks<4>(r);
    if constexpr (lanes >= 4) exchange_blocks<2>(r);
    exchange_blocks<1>(r);
  }
};

}  // namespace tilewise::impl::sort::TILEWISE_LEVEL
