// SPDX-License-Identifier: Apache-2.0
// What:   sort by ranks of an input that fits into the shared memory of one cluster of groups, in one launch.
// Order:  by code; where codes are equal, the earlier element comes first.
// Shape:  each group sorts a piece of the input. A warp sorts its part by Batcher's bitonic network. Then runs are
//         merged two at a time: an element's place is its index in its run plus its rank in the other run. Then all
//         groups send each other their pieces. An element's place in the output is its index in its piece plus its rank
//         in each other piece. Ranks are found by binary searches, whose steps do not depend on the keys.
// Limits: compute capability 9.0; most_ranked elements.
// Twins:  documents/cuda_merge_rank.cu, in memory.
//
// Source: Satish, Harris, Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, IPDPS 2009.
#pragma once

#include "backend/cuda/cluster.cuh"
#include "base/ceil_div.hpp"
#include "sort/cuda/elements.cuh"
#include "sort/cuda/merge_network.cuh"

#include <cooperative_groups.h>

namespace tilewise::impl::sort::on_cuda {

inline constexpr unsigned rank_held = 2;  // elements of a lane: with few there are more warps, which hide waits
inline constexpr unsigned rank_part = rank_held * warp_size;
/// Lanes of a group: few if the cluster then has enough pieces, since small pieces are sorted faster.
inline constexpr unsigned fewest_ranking = 256, most_ranking = 512;
inline constexpr std::uint64_t most_ranked = most_cluster_groups * most_ranking * rank_held;
/// Up to 512 keys of 32 bits, and 256 of all others, are sorted by the network of one group. On an H200 512 `u32` take
/// 4.8 us by it and 4.6 by ranks, a tie, 256 `u64` 4.8 and 4.4, and 300 `u64` 5.5 and 4.5.
template <class Bits, class Value>
inline constexpr std::uint64_t least_ranked = sizeof(Bits) + value_bytes<Value> == 4 ? 513 : 257;

/// Where element i of a run lies. After every 128 bytes 16 are left unused, so that the middles of runs, which
/// neighbouring lanes read at once, are in different banks.
template <class Bits>
inline constexpr unsigned padded_row = 128 / sizeof(Bits);
template <class Bits>
inline constexpr unsigned row_padding = 16 / sizeof(Bits);
template <class Bits>
__host__ __device__ constexpr unsigned padded(unsigned i) {
  return i + i / padded_row<Bits> * row_padding<Bits>;
}
template <class Bits>
__device__ constexpr unsigned unpadded(unsigned i) {
  constexpr unsigned stride = padded<Bits>(padded_row<Bits>);
  return i - i / stride * row_padding<Bits>;
}

template <class Bits, class Value, unsigned Lanes>
struct rank_shared {
  static constexpr unsigned length = Lanes * rank_held;               // of a piece
  Value values[moves<Value> ? length : 1];                            // of the group's piece, as in the input
  unsigned short from[moves<Value> ? length : 1];                     // where in it each of the sorted was
  alignas(16) Bits codes[most_cluster_groups][padded<Bits>(length)];  // as many as there are groups

  static constexpr unsigned bytes(unsigned groups) {
    return sizeof(rank_shared) - (most_cluster_groups - groups) * sizeof(codes[0]);
  }
};

/// Adds to place[j] how many elements of the run from codes[run[j]] on come before key[j], which comes after those
/// equal to it or before them.
template <unsigned Length, unsigned Count, class Bits>
__device__ __forceinline__ void add_ranks(const Bits* codes, const unsigned (&run)[Count], const Bits (&key)[Count],
                                          const bool (&after)[Count], unsigned (&place)[Count]) {
  Bits end[Count];  // codes below it come before
  unsigned at[Count];
#pragma unroll
  for (unsigned j = 0; j < Count; ++j) end[j] = key[j] + after[j], at[j] = run[j];
#pragma unroll
  for (unsigned half = Length / 2; half > 0; half /= 2) {
    Bits middle[Count];
#pragma unroll
    for (unsigned j = 0; j < Count; ++j) middle[j] = codes[at[j] + padded<Bits>(half - 1)];
#pragma unroll
    for (unsigned j = 0; j < Count; ++j) at[j] += middle[j] < end[j] ? padded<Bits>(half) : 0;
  }
#pragma unroll
  for (unsigned j = 0; j < Count; ++j) {
    const unsigned rank = unpadded<Bits>(at[j] - run[j]) + (codes[at[j]] < end[j]);
    place[j] += after[j] && end[j] == 0 ? Length : rank;  // nothing comes after the greatest code
  }
}

/// Of a lane's elements, each one row of a warp further than the last: the first one's index in the group's piece.
__device__ inline unsigned index_of_lane() { return threadIdx.x / warp_size * rank_part + threadIdx.x % warp_size; }

/// Merges the group's runs of length Run, each with its neighbour, until there is one.
template <unsigned Run, class Bits, class Value, unsigned Lanes>
__device__ void merge_by_ranks(rank_shared<Bits, Value, Lanes>& s) {
  if constexpr (Run < s.length) {
    Bits* const mine = s.codes[blockIdx.x];
    Bits key[rank_held];
    unsigned short from[rank_held];
    unsigned other[rank_held], place[rank_held];
    bool right[rank_held];
    __syncthreads();  // the runs are there
#pragma unroll
    for (unsigned j = 0; j < rank_held; ++j) {
      const unsigned i = index_of_lane() + j * warp_size;
      key[j] = mine[padded<Bits>(i)];
      if constexpr (moves<Value>) from[j] = s.from[i];
      right[j] = (i & Run) != 0;
      other[j] = padded<Bits>((i & ~(Run - 1)) ^ Run);
      place[j] = i & ~Run;  // in the pair, if nothing of the other run came before
    }
    add_ranks<Run>(mine, other, key, right, place);
    __syncthreads();  // all have read
#pragma unroll
    for (unsigned j = 0; j < rank_held; ++j) {
      mine[padded<Bits>(place[j])] = key[j];
      if constexpr (moves<Value>) s.from[place[j]] = from[j];
    }
    merge_by_ranks<2 * Run>(s);
  }
}

/// Loads the group's piece and sorts it. Past the end of the input lie the greatest codes, which stay there.
template <class Bits, class Value, unsigned Lanes>
__device__ void sort_piece(rank_shared<Bits, Value, Lanes>& s, const sort_task<Bits, Value>& task) {
  const unsigned n = static_cast<unsigned>(task.n), first = threadIdx.x * rank_held;
  held_elements<Bits, Value, rank_held> own;
#pragma unroll
  for (unsigned j = 0; j < rank_held; ++j) {
    const unsigned i = index_of_lane() + j * warp_size, at = blockIdx.x * s.length + i;
    own.key[j] = at < n ? task.code.encode(task.in.keys[at]) : ~Bits{0};
    if constexpr (moves<Value>) {
      own.from[j] = static_cast<unsigned short>(i);
      if (at < n) s.values[i] = load_value(task.in.values, at);
    }
  }
  sort_warp(own);
#pragma unroll
  for (unsigned j = 0; j < rank_held; ++j) {
    s.codes[blockIdx.x][padded<Bits>(first) + j] = own.key[j];
    if constexpr (moves<Value>) s.from[first + j] = own.from[j];
  }
  merge_by_ranks<rank_part>(s);
  __syncthreads();  // the piece is sorted
}

/// The group `k` further than this one, where the first follows the last.
__device__ inline unsigned group_further(unsigned k) {
  const unsigned group = blockIdx.x + k;
  return group < gridDim.x ? group : group - gridDim.x;
}

#if __CUDA_ARCH__ >= 900
template <class Bits, class Value, unsigned Lanes>
__device__ void send_piece(rank_shared<Bits, Value, Lanes>& s) {
  using packed = pack<Bits>;
  const auto cluster = cooperative_groups::this_cluster();
  Bits* const mine = s.codes[blockIdx.x];
#pragma unroll 1
  for (unsigned k = 1; k < gridDim.x; ++k) {  // no two groups send to one at once
    Bits* const there = cluster.map_shared_rank(mine, group_further(k));
    for (unsigned i = threadIdx.x * pack_length<Bits>; i < s.length; i += Lanes * pack_length<Bits>) {
      const unsigned at = padded<Bits>(i);
      *reinterpret_cast<packed*>(there + at) = *reinterpret_cast<const packed*>(mine + at);
    }
  }
}
#endif

/// Adds the ranks of the lane's elements in `Pieces` pieces, from the one `k` further than the group's own on.
template <unsigned Pieces, class Bits, class Value, unsigned Lanes>
__device__ __forceinline__ void add_ranks_in_pieces(const rank_shared<Bits, Value, Lanes>& s, unsigned k,
                                                    const Bits (&key)[rank_held], unsigned (&place)[rank_held]) {
  constexpr unsigned count = Pieces * rank_held;
  Bits keys[count];
  unsigned piece[count], places[count] = {};
  bool after[count];
#pragma unroll
  for (unsigned j = 0; j < count; ++j) {
    const unsigned other = group_further(k + j / rank_held);
    keys[j] = key[j % rank_held];
    piece[j] = other * padded<Bits>(s.length);
    after[j] = other < blockIdx.x;
  }
  add_ranks<rank_shared<Bits, Value, Lanes>::length>(s.codes[0], piece, keys, after, places);
#pragma unroll
  for (unsigned j = 0; j < count; ++j) place[j % rank_held] += places[j];
}

template <class Bits, class Value, unsigned Lanes>
__global__ void __launch_bounds__(Lanes) rank_sort(const __grid_constant__ sort_task<Bits, Value> task) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& s = *reinterpret_cast<rank_shared<Bits, Value, Lanes>*>(bytes);
  const auto cluster = cooperative_groups::this_cluster();
  cluster.barrier_arrive();
  sort_piece(s, task);
  cluster.barrier_wait();  // all groups have begun, so their memory is there
  send_piece(s);
  cluster.sync();  // all pieces are there, and what is written from here on has been read
  Bits key[rank_held];
  unsigned place[rank_held];
#pragma unroll
  for (unsigned j = 0; j < rank_held; ++j) {
    place[j] = index_of_lane() + j * warp_size;
    key[j] = s.codes[blockIdx.x][padded<Bits>(place[j])];
  }
  unsigned k = 1;
#pragma unroll 1
  for (; k + 1 < gridDim.x; k += 2) add_ranks_in_pieces<2>(s, k, key, place);  // whose searches wait together
  if (k < gridDim.x) add_ranks_in_pieces<1>(s, k, key, place);
#pragma unroll
  for (unsigned j = 0; j < rank_held; ++j) {
    if (place[j] >= task.n) continue;
    task.out.keys[place[j]] = task.code.decode(key[j]);
    if constexpr (moves<Value>) task.out.values[place[j]] = s.values[s.from[index_of_lane() + j * warp_size]];
  }
#else
  __trap();
#endif
}

template <class Bits, class Value, unsigned Lanes>
cluster_kernel<sort_task<Bits, Value>> by_ranks() {
  return {rank_sort<Bits, Value, Lanes>, Lanes, sizeof(rank_shared<Bits, Value, Lanes>)};
}

/// Calls use<Lanes>() with the lanes of a group for n elements.
template <class Use>
auto with_ranking(std::uint64_t n, const Use& use) {
  if (n <= most_cluster_groups * fewest_ranking * rank_held) return use.template operator()<fewest_ranking>();
  return use.template operator()<most_ranking>();
}

template <class Bits, class Value>
bool fits_ranks(const sort_task<Bits, Value>& task, const queue& q) {
  if (task.n < least_ranked<Bits, Value> || task.n > most_ranked) return false;
  return with_ranking(task.n, [&]<unsigned Lanes>() { return runs_clusters(by_ranks<Bits, Value, Lanes>(), q); });
}

template <class Bits, class Value>
void sort_by_ranks(const sort_task<Bits, Value>& task, queue& q) {
  with_ranking(task.n, [&]<unsigned Lanes>() {
    using shared = rank_shared<Bits, Value, Lanes>;
    const unsigned groups = static_cast<unsigned>(ceil_div(task.n, std::uint64_t{shared::length}));
    launch_cluster(by_ranks<Bits, Value, Lanes>(), groups, shared::bytes(groups), q, task);
  });
}

}  // namespace tilewise::impl::sort::on_cuda
