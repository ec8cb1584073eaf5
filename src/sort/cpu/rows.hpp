// SPDX-License-Identifier: Apache-2.0
// Networks that sort vectors of codes in registers: the lanes of one vector are a run. Comparing two vectors orders as
// many pairs as they have lanes, without a branch. Only for kernel files: everything is in the namespace of the level
// that they are compiled for.
//
// Two sorted vectors of W codes are merged by Batcher's bitonic merge. The second vector is reversed. Then codes that
// are W, W/2, ... 1 places apart are compared, and exchanged if they are out of order. Before each step the codes are
// shuffled between both vectors, so that partners lie in the same lane. A last shuffle brings all codes to their
// places. With 4 lanes:
//
//   places    0 1 2 3 | 4 5 6 7   2 apart:  0 1 4 5 | 2 3 6 7   1 apart:  0 2 4 6 | 1 3 5 7
//
// Runs of several rows are merged in the same way while all rows are in registers: the second run is reversed, rows and
// lanes. Rows are compared lane by lane until every row is in order with every other. Then each row is sorted by
// itself.
#pragma once

#include "backend/cpu/vector.hpp"

namespace tilewise::impl::sort::TILEWISE_LEVEL {

/// A vector of `Bytes` bytes.
template <class Bits, unsigned Bytes>
struct row_of {
  typedef Bits type __attribute__((vector_size(Bytes)));
};

template <class Bits, unsigned Bytes>
struct rows {
  using row = typename row_of<Bits, Bytes>::type;
  using float_row = typename row_of<float, Bytes>::type;  // floats: one instruction shuffles two rows of them
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

  /// Sorts `Count` rows into one run. Count must be a multiple of the lanes.
  template <int Count>
  [[gnu::always_inline]] static void sort_block(row* r) {
#pragma GCC unroll 16
    for (int first = 0; first < Count; first += lanes) sort_columns(r + first);
    merge_all<Count, 1>(r);
  }

  /// Merges two runs in memory, one after the other, of `run` rows each; `Held` rows are in registers at a time. No
  /// branch depends on the data, so none is mispredicted.
  template <int Held>
  static void merge_stored(Bits* at, int run) {
    const auto get = [&](int i) { return load(at + i * lanes); };
    const auto put = [&](int i, row r) { store(at + i * lanes, r); };
    for (int i = 0; i < run / 2; ++i) {  // four rows; the upper two exchange their places
      row a = get(i), b = get(run - 1 - i);
      row c = reversed(get(run + i), all_lanes), d = reversed(get(2 * run - 1 - i), all_lanes);
      order(a, d);
      order(b, c);
      put(i, a);
      put(run - 1 - i, b);
      put(run + i, d);
      put(2 * run - 1 - i, c);
    }
    for (int apart = run / 2; apart >= Held; apart /= 2)
      for (int i = 0; i < 2 * run; ++i) {
        if ((i & apart) != 0) continue;
        row low = get(i), high = get(i + apart);
        order(low, high);
        put(i, low);
        put(i + apart, high);
      }
    for (int first = 0; first < 2 * run; first += Held) {
      row r[Held];
#pragma GCC unroll 16
      for (int i = 0; i < Held; ++i) r[i] = get(first + i);
      clean<Held, Held / 2>(r);
#pragma GCC unroll 16
      for (int i = 0; i < Held; ++i) put(first + i, r[i]);
    }
  }

 private:
  /// The shuffle before the step whose partners are `Apart` places apart: from which lane the low row (of_high = 0) or
  /// the high row (1) takes its lane `lane`. Lanes of the high row count on from those of the low row.
  template <int Apart>
  static constexpr int source(int of_high, int lane) {
    if (Apart == 1 && sizeof(Bits) == 4)  // within groups of four lanes, as one instruction does it
      return (lane % 4 < 2 ? 0 : lanes) + lane / 4 * 4 + lane % 2 * 2 + of_high;
    const int group = lane / (2 * Apart) * (2 * Apart), within = lane % (2 * Apart);
    return (within < Apart ? 0 : lanes) + group + within % Apart + of_high * Apart;
  }

  /// The inverse of source(): the lane to which the code of lane `from` goes.
  template <int Apart>
  static constexpr int target(int from) {
    int lane = 0;
    while (source<Apart>(lane / lanes, lane % lanes) != from) ++lane;
    return lane;
  }
  /// The lane of a code from lane `from` after the shuffles of all steps.
  static constexpr int last_target(int from) {
    if constexpr (lanes >= 16) from = target<8>(from);
    if constexpr (lanes >= 8) from = target<4>(from);
    if constexpr (lanes >= 4) from = target<2>(from);
    return target<1>(from);
  }

  template <int... I>
  [[gnu::always_inline]] static row reversed(row r, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(r, r, (lanes - 1 - I)...);
  }
  template <int Apart, int... I>
  [[gnu::always_inline]] static void deal(row& low, row& high, std::integer_sequence<int, I...>) {
    using dealt_row = std::conditional_t<Apart == 1 && sizeof(Bits) == 4, float_row, row>;
    const dealt_row first = (dealt_row)low, second = (dealt_row)high;
    low = (row)__builtin_shufflevector(first, second, source<Apart>(0, I)...);
    high = (row)__builtin_shufflevector(first, second, source<Apart>(1, I)...);
  }
  template <int Apart>
  [[gnu::always_inline]] static void deal_and_order(row& low, row& high) {
    deal<Apart>(low, high, all_lanes);
    order(low, high);
  }
  template <int Apart, int... I>
  [[gnu::always_inline]] static void collect(row& low, row& high, std::integer_sequence<int, I...>) {
    const row first = low, second = high;
    low = __builtin_shufflevector(first, second, target<Apart>(I)...);
    high = __builtin_shufflevector(first, second, target<Apart>(lanes + I)...);
  }
  template <int... I>
  [[gnu::always_inline]] static void collect_all(row& low, row& high, std::integer_sequence<int, I...>) {
    const row first = low, second = high;
    low = __builtin_shufflevector(first, second, last_target(I)...);
    high = __builtin_shufflevector(first, second, last_target(lanes + I)...);
  }
  /// Undoes the shuffles of all steps: at once if one instruction permutes two rows, else step by step.
  [[gnu::always_inline]] static void to_places(row& low, row& high) {
    if constexpr (level::vector_bytes == 64) return collect_all(low, high, all_lanes);
    collect<1>(low, high, all_lanes);
    if constexpr (lanes >= 4) collect<2>(low, high, all_lanes);
    if constexpr (lanes >= 8) collect<4>(low, high, all_lanes);
  }

  /// Sorts each column by Batcher's odd-even merge sort. Each comparator works on all columns at once.
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

  /// Sorts the columns of as many rows as there are lanes, and transposes them: each column becomes a sorted row.
  [[gnu::always_inline]] static void sort_columns(row* r) {
    order_columns(r);
    transpose(r);
  }

  /// Sorts each of two bitonic rows.
  [[gnu::always_inline]] static void order_lanes(row& low, row& high) {
    if constexpr (lanes >= 16) deal_and_order<8>(low, high);
    if constexpr (lanes >= 8) deal_and_order<4>(low, high);
    if constexpr (lanes >= 4) deal_and_order<2>(low, high);
    deal_and_order<1>(low, high);
    to_places(low, high);
  }

  /// Sorts every 2 Apart of `Count` rows, which must be bitonic, into one run.
  template <int Count, int Apart>
  [[gnu::always_inline]] static void clean(row* r) {
#pragma GCC unroll 16
    for (int apart = Apart; apart >= 1; apart /= 2)
#pragma GCC unroll 16
      for (int i = 0; i < Count; ++i)
        if ((i & apart) == 0) order(r[i], r[i + apart]);
#pragma GCC unroll 16
    for (int i = 0; i < Count; i += 2) order_lanes(r[i], r[i + 1]);
  }

  /// Merges two runs of `Run` rows each, one after the other.
  template <int Run>
  [[gnu::always_inline]] static void merge_runs(row* r) {
#pragma GCC unroll 16
    for (int i = 0; i < (Run + 1) / 2; ++i) {
      const row turned = reversed(r[Run + i], all_lanes);
      r[Run + i] = reversed(r[2 * Run - 1 - i], all_lanes);
      r[2 * Run - 1 - i] = turned;
    }
    clean<2 * Run, Run>(r);
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
  /// Exchanges blocks of `Distance` lanes across the diagonal.
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
