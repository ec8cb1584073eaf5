// SPDX-License-Identifier: Apache-2.0
// What:   the plan of a radix sort over memory, made on the device: which digits it sorts by, and where the runs of
//         each digit begin.
// Order:  none; keys are counted.
// Shape:  a sweep over the keys counts all digits in shared memory, several copies each, so that equal keys wait less;
//         the last group to finish makes the plan.
// Limits: none.
// Twins:  opencl/onesweep.cl and opencl/settle.cl, which do the same for keys of 64 bits.
#pragma once

#include "base/ceil_div.hpp"
#include "sort/cuda/radix.cuh"

namespace tilewise::impl::sort::on_cuda {

template <class Bits>
struct radix_plan {
  unsigned passes;
  unsigned shift[digits<Bits>];
  unsigned settled;  // the passes sort by the bits from this one on; if not 0, few neighbours should share them
  unsigned again;    // set where that expectation fails: then all digits are sorted
};

/// One pass: its input, its digit and its output.
template <class Bits, class Value>
struct sweep_pass {
  bool runs;
  unsigned shift;
  unsigned sequence;  // of this launch among those that run
  elements<Bits, Value> from, to;
  coding<Bits> with;
};

template <class Bits, class Value, unsigned Tile>
struct radix_work {
  static constexpr std::uint64_t portion_tiles = (std::uint64_t{1} << 29) / Tile;

  sort_task<Bits, Value> task;
  elements<Bits, Value> spare;
  bool in_place;
  bool partial;  // whether the plan may leave low digits to settle()
  unsigned portions;
  std::uint64_t most_tiles;  // the most tiles of a portion
  // Zero before the sort.
  unsigned long long* counts;  // of each digit's values
  unsigned* tickets;           // tiles drawn by each launch; the last one counts groups that are done counting
  // Written by the sort.
  radix_plan<Bits>* plan;
  std::uint64_t* bases;  // for each digit, portion and value: where its next run goes
  unsigned* state_table[2];

  unsigned launches() const { return 2 * digits<Bits> * portions; }

  __device__ std::uint64_t begin_of(unsigned portion) const { return portion * portion_tiles * Tile; }
  __device__ unsigned tiles_of(unsigned portion) const {
    return static_cast<unsigned>(min(portion_tiles, ceil_div(task.n - begin_of(portion), Tile)));
  }
  __device__ std::uint64_t* base(unsigned digit, unsigned portion) const {
    return bases + (digit * portions + portion) * digit_values;
  }
  template <class Launch>
  __device__ unsigned* ticket(const Launch& l) const {
    return tickets + ((l.again ? digits<Bits> : 0) + l.pass) * portions + l.portion;
  }
  __device__ unsigned* groups_done() const { return tickets + 2 * digits<Bits> * portions; }
  /// Two tables alternate: a launch clears the one that the next launch will use.
  __device__ unsigned* states(unsigned sequence) const { return state_table[sequence % 2]; }

  template <class Launch>
  __device__ sweep_pass<Bits, Value> pass_of(const Launch& l) const {
    const unsigned planned = plan->passes, passes = l.again ? digits<Bits> : planned;
    const bool first = l.pass == 0, last = l.pass + 1 == passes, to_out = (passes - l.pass) % 2 == 1;
    return {l.again ? plan->again != 0 : l.pass < passes,
            l.again ? l.pass * digit_bits : plan->shift[l.pass],
            ((l.again ? planned : 0) + l.pass) * portions + l.portion,
            first && !l.again ? task.in : (to_out ? spare : task.out),
            to_out ? task.out : spare,
            {task.code, first && !task.code.is_identity(), last && !task.code.is_identity()}};
  }
};

inline constexpr unsigned count_warps = 32;
inline constexpr unsigned count_groups = 2;  // per compute unit, which has room for them
/// Copies of a counter, side by side, so that lanes seldom meet in a bank. Together they take 64 KiB.
template <class Bits>
inline constexpr unsigned count_copies = 64 / sizeof(Bits);
inline constexpr unsigned count_rows = 16;  // loads in flight

template <class Bits>
struct count_shared {
  unsigned counts[digits<Bits>][digit_values][count_copies<Bits>];
  warp_sums<unsigned long long, count_warps> sums;
  float alike[digits<Bits>][digit_values / warp_size];  // the chance that two keys share a digit, in parts
  bool constant[digits<Bits>];
  bool last;
};

/// Decides which digits are sorted. One thread.
template <class Bits>
__device__ radix_plan<Bits> decide(const count_shared<Bits>& s, std::uint64_t n, bool partial, bool in_place) {
  // At most this many neighbours in sorted order may share all but the lowest digits: settle() then has little to do.
  constexpr float rare = 0.125f;
  unsigned lowest = 0;
  float neighbours = static_cast<float>(n);
  for (unsigned d = digits<Bits>; partial && d-- > 0;) {
    float chance = 0;
    for (float part : s.alike[d]) chance += part;
    neighbours *= chance;
    if (neighbours <= rare) {
      lowest = d;
      break;
    }
  }
  radix_plan<Bits> plan{};
  plan.settled = lowest * digit_bits;
  for (unsigned d = lowest; d < digits<Bits>; ++d)
    if (!s.constant[d]) plan.shift[plan.passes++] = d * digit_bits;
  // If all keys are equal, one pass copies them. In place, an odd number of passes would make the first one overwrite
  // its own input, so one digit is sorted twice.
  while (plan.passes == 0 || (in_place && plan.passes % 2 == 1)) {
    plan.shift[plan.passes] = plan.passes == 0 ? 0 : plan.shift[plan.passes - 1];
    ++plan.passes;
  }
  return plan;
}

/// Computes the bases of the first portion, and the plan. Called by all threads of the last group.
template <class Work, class Bits>
__device__ void make_plan(const Work& w, count_shared<Bits>& s) {
  constexpr unsigned together = count_warps * warp_size / digit_values;  // digits
  const unsigned value = threadIdx.x % digit_values, warp = value / warp_size;
#pragma unroll
  for (unsigned first = 0; first < digits<Bits>; first += together) {
    const unsigned d = first + threadIdx.x / digit_values;
    const unsigned long long count = __ldcg(w.counts + d * digit_values + value);
    if (value == 0) s.constant[d] = false;
    w.base(d, 0)[value] = sum_before(count, s.sums);
    if (count == w.task.n) s.constant[d] = true;
    const float share = static_cast<float>(count) / static_cast<float>(w.task.n);
    float alike = share * share;
#pragma unroll
    for (unsigned distance = 1; distance < warp_size; distance *= 2)
      alike += __shfl_xor_sync(all_lanes, alike, distance);
    if (value % warp_size == 0) s.alike[d][warp] = alike;
    __syncthreads();  // `constant` and `alike` are stored, and `sums` has been read
  }
  if (threadIdx.x == 0) *w.plan = decide(s, w.task.n, w.partial, w.in_place);
}

template <class Bits, class Value, unsigned Tile>
__global__ void __launch_bounds__(count_warps* warp_size) count_digits(const radix_work<Bits, Value, Tile> w) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& s = *reinterpret_cast<count_shared<Bits>*>(bytes);
  constexpr unsigned threads = count_warps * warp_size, step = threads * count_rows;
  for (unsigned i = threadIdx.x; i < digits<Bits> * digit_values * count_copies<Bits>; i += threads)
    (&s.counts[0][0][0])[i] = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < w.most_tiles * digit_values;
       i += std::uint64_t{gridDim.x} * threads)
    w.states(0)[i] = 0;
  __syncthreads();  // the counts are zero
  const auto count = [&s, code = w.task.code, encodes = !w.task.code.is_identity()](Bits key) {
    if (encodes) key = code.encode(key);
#pragma unroll
    for (unsigned d = 0; d < digits<Bits>; ++d)
      atomicAdd(&s.counts[d][digit_of(key, d * digit_bits)][threadIdx.x % count_copies<Bits>], 1);
  };
  for (std::uint64_t begin = std::uint64_t{blockIdx.x} * step; begin < w.task.n;
       begin += std::uint64_t{gridDim.x} * step) {
    const Bits* const from = w.task.in.keys + begin + threadIdx.x;
    const unsigned length = static_cast<unsigned>(min(std::uint64_t{step}, w.task.n - begin));
    if (length == step) {
      Bits key[count_rows];
#pragma unroll
      for (unsigned r = 0; r < count_rows; ++r) key[r] = from[r * threads];
#pragma unroll
      for (unsigned r = 0; r < count_rows; ++r) count(key[r]);
    } else {
      for (unsigned i = 0; i + threadIdx.x < length; i += threads) count(from[i]);
    }
  }
  __syncthreads();  // the group has counted
  for (unsigned i = threadIdx.x; i < digits<Bits> * digit_values; i += threads) {
    unsigned sum = 0;
    for (unsigned copy = 0; copy < count_copies<Bits>; ++copy)
      sum += s.counts[i / digit_values][i % digit_values][(copy + i) % count_copies<Bits>];
    if (sum != 0) atomicAdd(w.counts + i, static_cast<unsigned long long>(sum));
  }
  __threadfence();
  __syncthreads();  // the group's counts are in memory
  if (threadIdx.x == 0) s.last = atomicAdd(w.groups_done(), 1) == gridDim.x - 1;
  __syncthreads();  // `last` is stored
  if (s.last) make_plan(w, s);
}

/// Elements that share all sorted bits end up side by side, in the order of the input. If they are few, one thread
/// sorts them by insertion; if they are many, all digits must be sorted.
template <class Bits, class Value, unsigned Tile>
__global__ void settle(const radix_work<Bits, Value, Tile> w) {
  constexpr unsigned most = 16;
  const unsigned settled = w.plan->settled;
  if (settled == 0 || *reinterpret_cast<volatile unsigned*>(&w.plan->again) != 0) return;
  const elements<Bits, Value> x = w.task.out;
  const std::uint64_t n = w.task.n, stride = std::uint64_t{gridDim.x} * blockDim.x;
  const auto key_at = [&](std::uint64_t i) -> Bits& { return x.keys[i]; };
  const auto value_at = [&](std::uint64_t i) -> Value& { return x.values[i]; };
  const auto code_of = [&](Bits key) { return w.task.code.encode(key); };
  const auto code_at = [&](std::uint64_t i) { return code_of(key_at(i)); };
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i + 1 < n; i += stride) {
    const Bits sorted = code_at(i) >> settled;
    if (code_at(i + 1) >> settled != sorted || (i != 0 && code_at(i - 1) >> settled == sorted)) continue;
    std::uint64_t end = i + 2;
    while (end < n && end - i <= most && code_at(end) >> settled == sorted) ++end;
    if (end - i > most) {
      w.plan->again = 1;
      return;
    }
    insert_in_order<Value>(i, end, key_at, value_at, code_of);
  }
}

}  // namespace tilewise::impl::sort::on_cuda
