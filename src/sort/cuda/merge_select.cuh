// SPDX-License-Identifier: Apache-2.0
// What:   multiway selection: finds where the first `wanted` elements of four merged runs end in each run.
// Order:  where codes are equal, those of the earlier run come first.
// Shape:  one lane per selection. It samples each run at equal steps, moves past the least sample and all elements
//         before it, and starts again with smaller steps. After a round with two samples of each run, three fifths of
//         the wanted elements remain.
// Limits: runs in global memory, all of one length but for the last, or four of any lengths, which may lie apart and on
//         other devices.
// Twins:  tw_select in sort_axis/opencl/rows.cl.
//
// The problem is from Varman, Scheufler, Iyer, Ricard, Merging multiple lists on hierarchical-memory multiprocessors,
// 1991. Their method halves the distance of samples instead, and corrects all ends after each round.
#pragma once

#include "sort/cuda/elements.cuh"

namespace tilewise::impl::sort::on_cuda {

inline constexpr unsigned ways = 4;

/// A place in each of the runs that are merged.
struct split {
  std::uint64_t at[ways];
};

/// The group of up to `ways` neighbouring runs that are merged at place `at`. All runs but the last have one length.
struct run_group {
  std::uint64_t begin, run, n;

  __device__ run_group(std::uint64_t at, std::uint64_t run, std::uint64_t n)
      : begin(at / (ways * run) * (ways * run)), run(run), n(n) {}
  __device__ std::uint64_t start(unsigned r) const { return min(begin + r * run, n); }
  __device__ std::uint64_t end() const { return start(ways); }
  __device__ split starts() const { return {start(0), start(1), start(2), start(3)}; }
  __device__ split ends() const { return {start(1), start(2), start(3), start(4)}; }
};
/// Runs of codes that lie one after the other.
struct neighbours {
  static constexpr bool are_codes = true;

  static __device__ std::int64_t key_shift(unsigned) { return 0; }
  static __device__ std::int64_t value_shift(unsigned) { return 0; }
  template <class Bits>
  static __device__ Bits code(Bits key) {
    return key;
  }
};

struct equal_runs : neighbours {
  std::uint64_t run, n;

  TILEWISE_ANYWHERE equal_runs(std::uint64_t run, std::uint64_t n) : run(run), n(n) {}
  __device__ run_group around(std::uint64_t at) const { return {at, run, n}; }
};

/// A single group of up to `ways` runs of any lengths.
struct given_group {
  split last;  // the end of each run; the first begins at 0
  static constexpr std::uint64_t begin = 0;

  __device__ std::uint64_t end() const { return last.at[ways - 1]; }
  __device__ split starts() const { return {0, last.at[0], last.at[1], last.at[2]}; }
  __device__ split ends() const { return last; }
};
struct given_runs : neighbours {
  split last{};
  std::uint64_t n = 0;

  __device__ given_group around(std::uint64_t) const { return {last}; }
};

/// The same for runs of keys that lie anywhere. Indices count as if the runs followed each other from the first run's
/// place on; the elements of run r lie `shift[r]` further.
template <class Bits>
struct placed_runs {
  split last{};
  std::uint64_t n = 0;
  std::int64_t key_shift_of[ways]{}, value_shift_of[ways]{};
  sort_code<Bits> coding{};
  static constexpr bool are_codes = false;

  __device__ given_group around(std::uint64_t) const { return {last}; }
  __device__ std::int64_t key_shift(unsigned r) const { return key_shift_of[r]; }
  __device__ std::int64_t value_shift(unsigned r) const { return value_shift_of[r]; }
  __device__ Bits code(Bits key) const { return coding.encode(key); }
};

/// Returns where the first `wanted` merged elements of the group end. Samples are `step` apart, so before the least one
/// there are at most step - 1 elements of each run. So it is among the wanted elements while more than
/// ways * (step - 1) of them remain. `Ahead` samples of each run are read at a time, and as many are passed.
template <unsigned Ahead, class Bits, class Runs, class Group>
__device__ split select(const Bits* keys, const Runs& runs, const Group& group, std::uint64_t wanted) {
  split found = group.starts();
  const split ends = group.ends();
  while (wanted > 0) {
    const std::uint64_t step = max((wanted + ways - 1) / (ways + Ahead - 1), std::uint64_t{1});
    Bits sample[ways][Ahead];
    unsigned left[ways];
#pragma unroll
    for (unsigned r = 0; r < ways; ++r) {
      left[r] = 0;
#pragma unroll
      for (unsigned i = 0; i < Ahead; ++i) {
        const std::uint64_t after = found.at[r] + (i + 1) * step;
        if (after <= ends.at[r]) sample[r][i] = runs.code(keys[after - 1 + runs.key_shift(r)]), left[r] = i + 1;
      }
    }
#pragma unroll
    for (unsigned pass = 0; pass < Ahead; ++pass) {
      if (wanted <= ways * (step - 1)) break;
      unsigned least = ways;
      Bits key{};
#pragma unroll
      for (unsigned r = 0; r < ways; ++r)
        if (left[r] > 0 && (least == ways || sample[r][0] < key)) least = r, key = sample[r][0];
#pragma unroll
      for (unsigned r = 0; r < ways; ++r) {
        if (r != least) continue;
        found.at[r] += step;
        --left[r];
#pragma unroll
        for (unsigned i = 0; i + 1 < Ahead; ++i) sample[r][i] = sample[r][i + 1];
      }
      wanted -= step;
    }
  }
  return found;
}

}  // namespace tilewise::impl::sort::on_cuda
