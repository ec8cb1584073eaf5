// SPDX-License-Identifier: Apache-2.0
// What:   radix sort of an input that fits into the shared memory of one cluster of groups, in one launch.
// Order:  one stable pass per digit, the lowest first.
// Shape:  the input is one tile per group; a pass ranks a tile's keys in registers, sums the groups' counts of each
//         digit, and stores each key straight into the tile where it belongs, its own or another group's. Keys of 64
//         bits are sorted by the highest few of the digits in which they differ; neighbours that share those are rare
//         as a rule and put in order by insertion. Keys that break the rule get all digits sorted, up to twelve passes
//         in all: on an H200 the worst 2^16 keys took 134 us and random ones 35 us, where eight passes took 59 us.
// Limits: compute capability 9.0; cluster_capacity elements.
// Twins:  radix_sweep.cuh.
#pragma once

#include "backend/cuda/cluster.cuh"
#include "base/ceil_div.hpp"
#include "sort/cuda/radix.cuh"

#include <cooperative_groups.h>

#include <bit>

namespace tilewise::impl::sort::on_cuda {

inline constexpr unsigned cluster_rows = 4;    // a warp's keys: 32 per row
inline constexpr unsigned cluster_warps = 32;  // of a group
inline constexpr unsigned cluster_tile = cluster_rows * cluster_warps * warp_size;
inline constexpr std::uint64_t cluster_capacity = most_cluster_groups * cluster_tile;
/// With four digits, two of 2^16 random keys share all of them every other time. Three digits would leave a hundred
/// such pairs, and longer runs with floats.
inline constexpr unsigned cluster_digits = 4;
inline constexpr unsigned longest_run = 16;  // the longest run that one thread sorts
template <class Bits>
inline constexpr bool may_settle = digits<Bits> > cluster_digits;

template <class Bits, class Value>
struct cluster_tile_memory {
  Bits keys[cluster_tile];
  Value values[moves<Value> ? cluster_tile : 1];
};

template <class Bits, class Value>
struct cluster_shared {
  cluster_tile_memory<Bits, Value> received;  // where groups store each other's keys
  cluster_tile_memory<Bits, Value> ordered;   // the group's own, by digit
  unsigned counts[cluster_warps][digit_values];
  unsigned totals[digit_values];  // this group's, for all groups to see
  unsigned to[digit_values];      // place among all, minus place in `ordered`
  warp_sums<unsigned, cluster_warps> sums[2];
  // Bits that are set in any key, then those clear in any: for the group, for the cluster.
  unsigned seen[4], seen_by_all[4];
  unsigned again;  // whether runs are too long to settle
};

#if __CUDA_ARCH__ >= 900
/// A set of digits, bit d for digit d: those in which any two of the cluster's keys differ, or one if all are equal.
template <class Value>
__device__ unsigned differing_digits(cluster_shared<std::uint64_t, Value>& s, const std::uint64_t (&key)[cluster_rows],
                                     unsigned first, unsigned n) {
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x < 4) s.seen[threadIdx.x] = s.seen_by_all[threadIdx.x] = 0;
  if (threadIdx.x == 0) s.again = 0;
  __syncthreads();  // nothing has been seen yet
  std::uint64_t set = 0, clear = 0;
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    if (first + r * warp_size >= n) continue;
    set |= key[r];
    clear |= ~key[r];
  }
  const unsigned half[4] = {static_cast<unsigned>(set), static_cast<unsigned>(set >> 32), static_cast<unsigned>(clear),
                            static_cast<unsigned>(clear >> 32)};
#pragma unroll
  for (unsigned h = 0; h < 4; ++h) {
    const unsigned any = __reduce_or_sync(all_lanes, half[h]);
    if (threadIdx.x % warp_size == 0) atomicOr(&s.seen[h], any);
  }
  cluster.sync();  // all groups have seen their keys
  if (threadIdx.x < 4 * gridDim.x)
    atomicOr(&s.seen_by_all[threadIdx.x % 4], cluster.map_shared_rank(s.seen, threadIdx.x / 4)[threadIdx.x % 4]);
  __syncthreads();  // `seen_by_all` is complete
  unsigned found = 0;
#pragma unroll
  for (unsigned d = 0; d < digits<std::uint64_t>; ++d) {
    const unsigned h = d / 4, both = s.seen_by_all[h] & s.seen_by_all[2 + h];
    if (digit_of(both, d % 4 * digit_bits) != 0) found |= 1u << d;
  }
  return found == 0 ? 1 : found;
}

/// Sorts neighbours that share the bits from `settled` on. Sets `again` in all groups if any run of them is long and
/// out of order. Meanwhile other threads change only lower bits, which only one thread per run reads.
template <class Bits, class Value>
__device__ void settle_runs(cluster_shared<Bits, Value>& s, unsigned settled, unsigned n) {
  const auto cluster = cooperative_groups::this_cluster();
  const auto tile_of = [&](unsigned i) { return cluster.map_shared_rank(&s.received, i / cluster_tile); };
  const auto key_at = [&](unsigned i) -> Bits& { return tile_of(i)->keys[i % cluster_tile]; };
  const auto value_at = [&](unsigned i) -> Value& { return tile_of(i)->values[i % cluster_tile]; };
  const auto alike = [&](unsigned i, unsigned j) { return (key_at(i) ^ key_at(j)) >> settled == 0; };
#pragma unroll 1
  for (unsigned r = 0; r < cluster_rows; ++r) {
    const unsigned i = blockIdx.x * cluster_tile + r * cluster_warps * warp_size + threadIdx.x;
    if (i + 1 >= n || !alike(i, i + 1)) continue;
    const bool falls = key_at(i) > key_at(i + 1), starts = i == 0 || !alike(i - 1, i);
    if (!falls && !starts) continue;
    unsigned begin = i, end = i + 2;
    while (begin > 0 && end - begin <= longest_run && alike(begin - 1, i)) --begin;
    while (end < n && end - begin <= longest_run && alike(i, end)) ++end;
    if (end - begin > longest_run) {
      for (unsigned g = 0; falls && g < gridDim.x; ++g) *cluster.map_shared_rank(&s.again, g) = 1;
      continue;
    }
    if (starts) insert_in_order<Value>(i, end, key_at, value_at, [](Bits code) { return code; });
  }
}

/// Turns `counts` into places in `ordered`, and fills in `to`.
template <class Bits, class Value>
__device__ void place_digits(cluster_shared<Bits, Value>& s) {
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned digit = threadIdx.x;
  unsigned own = 0;
  if (digit < digit_values) s.totals[digit] = own = sum_of_warps(s.counts, digit);
  cluster.barrier_arrive();
  const unsigned first = sum_before(own, s.sums[0]);
  if (digit < digit_values) to_places(s.counts, digit, first);
  cluster.barrier_wait();  // all groups' totals are stored
  unsigned earlier = 0, total = 0;
  if (digit < digit_values) {
#pragma unroll 8
    for (unsigned g = 0; g < most_cluster_groups; ++g) {
      const unsigned theirs = g < gridDim.x ? cluster.map_shared_rank(s.totals, g)[digit] : 0;
      if (g < blockIdx.x) earlier += theirs;
      total += theirs;
    }
  }
  const unsigned begin = sum_before(total, s.sums[1]);
  if (digit < digit_values) s.to[digit] = begin + earlier - first;
}

/// Sends the keys in `ordered` to their groups' `received`, runs of neighbours together.
template <class Bits, class Value>
__device__ void send(cluster_shared<Bits, Value>& s, unsigned shift) {
  const auto cluster = cooperative_groups::this_cluster();
  Bits key[cluster_rows];
  unsigned place[cluster_rows];
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    const unsigned i = threadIdx.x + r * cluster_warps * warp_size;
    key[r] = s.ordered.keys[i];
    place[r] = s.to[digit_of(key[r], shift)] + i;
  }
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    auto& there = *cluster.map_shared_rank(&s.received, place[r] / cluster_tile);
    there.keys[place[r] % cluster_tile] = key[r];
    if constexpr (moves<Value>)
      there.values[place[r] % cluster_tile] = s.ordered.values[threadIdx.x + r * cluster_warps * warp_size];
  }
}
#endif

/// Writes the sorted keys in `ordered`, without those past the end.
template <class Bits, class Value>
__device__ void write_sorted(const cluster_shared<Bits, Value>& s, unsigned shift, const sort_task<Bits, Value>& task) {
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    const unsigned i = threadIdx.x + r * cluster_warps * warp_size;
    const Bits key = s.ordered.keys[i];
    const unsigned place = s.to[digit_of(key, shift)] + i;
    if (place >= task.n) continue;
    task.out.keys[place] = task.code.decode(key);
    if constexpr (moves<Value>) task.out.values[place] = s.ordered.values[i];
  }
}

/// Writes the sorted keys in `received`.
template <class Bits, class Value>
__device__ void write_settled(const cluster_shared<Bits, Value>& s, const sort_task<Bits, Value>& task) {
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    const unsigned i = threadIdx.x + r * cluster_warps * warp_size, place = blockIdx.x * cluster_tile + i;
    if (place >= task.n) continue;
    task.out.keys[place] = task.code.decode(s.received.keys[i]);
    if constexpr (moves<Value>) task.out.values[place] = s.received.values[i];
  }
}

#if __CUDA_ARCH__ >= 900
/// Loads a thread's elements: the one at `first` of the input, and then one every warp's width.
template <class Bits, class Value>
__device__ __forceinline__ void load_elements(Bits (&key)[cluster_rows], Value (&value)[cluster_rows],
                                              const sort_task<Bits, Value>& task, unsigned first, unsigned n) {
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    const unsigned i = first + r * warp_size;
    key[r] = i < n ? task.code.encode(task.in.keys[i]) : ~Bits{0};  // keys past the end stay there
    if constexpr (moves<Value>)
      if (i < n) value[r] = load_value(task.in.values, i);
  }
}

/// Moves the group's tile to `ordered`, by digit. Fills in `to`.
template <class Bits, class Value>
__device__ __forceinline__ void order_by_digit(cluster_shared<Bits, Value>& s, const Bits (&key)[cluster_rows],
                                               const Value (&value)[cluster_rows], unsigned shift) {
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  for (unsigned i = lane; i < digit_values; i += warp_size) s.counts[warp][i] = 0;
  __syncwarp();
  unsigned rank[cluster_rows];
  place_in_warp(key, shift, s.counts[warp], [&](unsigned r, unsigned place) { rank[r] = place; });
  __syncthreads();  // all warps have counted
  place_digits(s);
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) rank[r] += s.counts[warp][digit_of(key[r], shift)];
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    s.ordered.keys[rank[r]] = key[r];
    if constexpr (moves<Value>) s.ordered.values[rank[r]] = value[r];
  }
  __syncthreads();  // the group's keys are in order, and `to` is complete
}

/// Where in a key the lowest of a set of digits begins.
__device__ __forceinline__ unsigned lowest_of(unsigned digits) { return (__ffs(digits) - 1) * digit_bits; }
#endif

template <class Bits, class Value>
__global__ void __launch_bounds__(cluster_warps* warp_size, 1) cluster_sort(const sort_task<Bits, Value> task) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& s = *reinterpret_cast<cluster_shared<Bits, Value>*>(bytes);
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, n = static_cast<unsigned>(task.n);
  const unsigned in_tile = warp * cluster_rows * warp_size + lane;
  Bits key[cluster_rows];
  Value value[cluster_rows];
  load_elements(key, value, task, blockIdx.x * cluster_tile + in_tile, n);
  unsigned all = (1u << digits<Bits>)-1, settled = 0;  // keys are sorted by the bits from here on
  if constexpr (may_settle<Bits>) all = differing_digits(s, key, blockIdx.x * cluster_tile + in_tile, n);
  unsigned left = all;  // one bit for each digit to come
  while (__popc(left) > cluster_digits) {
    left &= left - 1;
    settled = lowest_of(left);
  }
  for (;;) {
    const unsigned shift = lowest_of(left);
    left &= left - 1;
    order_by_digit(s, key, value, shift);
    const bool last = left == 0 && settled == 0;
    last ? write_sorted(s, shift, task) : send(s, shift);
    cluster.sync();  // all keys are in their groups; the others have read this group's totals, so it may end
    if (last) return;
    if (may_settle<Bits> && left == 0) {
      settle_runs(s, settled, n);
      cluster.sync();  // all runs are settled, or `again` is set
      if (s.again == 0) return write_settled(s, task);
      left = all;
      settled = 0;
    }
#pragma unroll
    for (unsigned r = 0; r < cluster_rows; ++r) {
      key[r] = s.received.keys[in_tile + r * warp_size];
      if constexpr (moves<Value>) value[r] = s.received.values[in_tile + r * warp_size];
    }
  }
#else
  __trap();
#endif
}

template <class Bits, class Value>
cluster_kernel<sort_task<Bits, Value>> in_cluster() {
  return {cluster_sort<Bits, Value>, cluster_warps * warp_size, sizeof(cluster_shared<Bits, Value>)};
}

template <class Bits, class Value>
bool fits_cluster(const sort_task<Bits, Value>& task, const queue& q) {
  return task.n <= cluster_capacity && runs_clusters(in_cluster<Bits, Value>(), q);
}

template <class Bits, class Value>
void sort_in_cluster(const sort_task<Bits, Value>& task, queue& q) {
  const unsigned groups = std::bit_ceil(static_cast<unsigned>(ceil_div(task.n, cluster_tile)));
  launch_cluster(in_cluster<Bits, Value>(), groups, sizeof(cluster_shared<Bits, Value>), q, task);
}

}  // namespace tilewise::impl::sort::on_cuda
