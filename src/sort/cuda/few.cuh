// SPDX-License-Identifier: Apache-2.0
// What:   the sort of few elements on CUDA: by one group, in one launch.
// Order:  by code; where codes are equal, the earlier element comes first. So the network compares places in the input
//         too.
// Shape:  the fewest elements are sorted by the networks of merge_network.cuh; warps exchange elements through shared
//         memory. With more elements each lane sorts its own; then runs are merged in shared memory (merge_tile.cuh),
//         by as many lanes as hold them.
// Limits: most_few elements; works in place.
// Twins:  none.
//
// Source: Batcher, Sorting networks and their applications, 1968.
#pragma once

#include "backend/cuda/warp.cuh"
#include "base/ceil_div.hpp"
#include "sort/cuda/elements.cuh"
#include "sort/cuda/merge_tile.cuh"

#include <algorithm>
#include <bit>

namespace tilewise::impl::sort::on_cuda {

/// The most bytes that the network sorts. On an H100 2,048 `f32` take 8.2 us by the network and 9.3 by merges, 1,024
/// `f64` 7.9 and 9.0, 1,024 pairs of 4 and 4 bytes 8.9 and 9.5; twice as many take 13 and 12, 14 and 11, 15 and 11.
inline constexpr std::uint64_t network_bytes = 8192;
inline constexpr unsigned network_held = 8;  // elements of a lane
template <class Bits, class Value>
inline constexpr std::uint64_t most_by_network = network_bytes / (sizeof(Bits) + value_bytes<Value>);
template <class Bits, class Value>
inline constexpr unsigned network_lanes =
    std::bit_ceil(static_cast<unsigned>(most_by_network<Bits, Value>)) / network_held;

template <class Bits, class Value>
using network_elements = held_elements<Bits, Value, network_held>;

template <class Bits, class Value>
struct network_shared {
  Bits key[network_held][network_lanes<Bits, Value>];
  unsigned short from[moves<Value> ? network_held : 1][network_lanes<Bits, Value>];
};

/// Like meet_in_warp, for lanes of any warp.
template <bool Mirrored, class Bits, class Value>
__device__ void meet(network_elements<Bits, Value>& own, unsigned across, network_shared<Bits, Value>& s) {
  if (across < warp_size) return meet_in_warp<Mirrored>(own, across);
  network_elements<Bits, Value> other;
  __syncthreads();  // what was there before is read
#pragma unroll
  for (unsigned i = 0; i < network_held; ++i) {
    s.key[i][threadIdx.x] = own.key[i];
    if constexpr (moves<Value>) s.from[i][threadIdx.x] = own.from[i];
  }
  __syncthreads();  // all lanes have stored theirs
#pragma unroll
  for (unsigned i = 0; i < network_held; ++i) {
    const unsigned theirs = Mirrored ? network_held - 1 - i : i;
    other.key[i] = s.key[theirs][threadIdx.x ^ across];
    if constexpr (moves<Value>) other.from[i] = s.from[theirs][threadIdx.x ^ across];
  }
  keep_half(own, other, (threadIdx.x ^ across) > threadIdx.x);
}

template <class Bits, class Value>
__global__ void __launch_bounds__(network_lanes<Bits, Value>)
    sort_by_network(const __grid_constant__ sort_task<Bits, Value> task) {
  __shared__ network_shared<Bits, Value> shared;
  const unsigned n = static_cast<unsigned>(task.n);
  network_elements<Bits, Value> own;
#pragma unroll
  for (unsigned i = 0; i < network_held; ++i) {
    const unsigned from = i * blockDim.x + threadIdx.x;                       // any lane may hold any element at first
    own.key[i] = from < n ? task.code.encode(task.in.keys[from]) : ~Bits{0};  // those past the end stay there
    if constexpr (moves<Value>) own.from[i] = static_cast<unsigned short>(from);
  }
  sort_lanes(own, blockDim.x, [&](auto mirrored, unsigned across) { meet<mirrored.value>(own, across, shared); });
  // If there are several warps, they have passed a barrier: all keys have been read, so their places may be
  // overwritten.
  const unsigned first = threadIdx.x * network_held;
  Value value[network_held];
  if constexpr (moves<Value>) {
#pragma unroll
    for (unsigned i = 0; i < network_held; ++i)
      if (first + i < n) value[i] = load_value(task.in.values, own.from[i]);
    __syncthreads();  // and all values
  }
#pragma unroll
  for (unsigned i = 0; i < network_held; ++i) {
    if (first + i >= n) break;
    task.out.keys[first + i] = task.code.decode(own.key[i]);
    if constexpr (moves<Value>) task.out.values[first + i] = value[i];
  }
}

/// Each lane holds 9 elements. Lanes that hold more take longer, since they handle one after the other; for 4096
/// elements, lanes that hold five take longer too.
template <class Bits, class Value>
using few_tile = merge_tile<Bits, Value, 9>;
template <class Bits, class Value>
inline constexpr std::uint64_t most_few = few_tile<Bits, Value>::room;

template <class Bits, class Value, class Tile = few_tile<Bits, Value>>
__global__ void __launch_bounds__(Tile::group_size)
    sort_by_merging(const __grid_constant__ sort_task<Bits, Value> task) {
  __shared__ Tile tile;
  const unsigned n = static_cast<unsigned>(task.n);
#pragma unroll
  for (unsigned r = 0; r < Tile::held; ++r) {  // past the end lie the greatest codes, which stay there
    const unsigned i = threadIdx.x + r * blockDim.x;
    tile.keys()[i] = i < n ? task.code.encode(task.in.keys[i]) : ~Bits{0};
  }
  __syncthreads();  // the tile is loaded
  sort_tile(tile, blockDim.x);
  __syncthreads();  // and sorted
  Value value[Tile::held];
  if constexpr (moves<Value>) {
#pragma unroll
    for (unsigned r = 0; r < Tile::held; ++r)
      if (const unsigned i = threadIdx.x + r * blockDim.x; i < n) value[r] = load_value(task.in.values, tile.from()[i]);
    __syncthreads();  // all values are read, which may lie where they go
  }
#pragma unroll
  for (unsigned r = 0; r < Tile::held; ++r) {
    const unsigned i = threadIdx.x + r * blockDim.x;
    if (i >= n) break;
    task.out.keys[i] = task.code.decode(tile.keys()[i]);
    if constexpr (moves<Value>) task.out.values[i] = value[r];
  }
}

template <class Bits, class Value>
bool is_few(const sort_task<Bits, Value>& task) {
  return task.n <= most_few<Bits, Value>;
}

template <class Bits, class Value>
void enqueue_few(const sort_task<Bits, Value>& task, queue& q) {
  const bool by_network = task.n <= most_by_network<Bits, Value>;
  const unsigned held = by_network ? network_held : few_tile<Bits, Value>::held;
  const unsigned lanes = std::bit_ceil(static_cast<unsigned>(ceil_div(task.n, std::uint64_t{held})));
  if (by_network)
    sort_by_network<<<1, std::max(lanes, warp_size), 0, q.stream()>>>(task);
  else
    sort_by_merging<Bits, Value><<<1, lanes, 0, q.stream()>>>(task);
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::sort::on_cuda
