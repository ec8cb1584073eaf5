// SPDX-License-Identifier: Apache-2.0
// What:   the sort of few elements on CUDA: by one group, in one launch.
// Order:  by code; of equal codes the earlier element comes first, since its place in the input is compared too.
// Shape:  a lane sorts the elements that it holds by the network of sort_network.hpp. Runs of one lane, two, four, and
//         on, are merged by Batcher's bitonic network: between lanes of a warp by shuffles, between warps through
//         shared memory.
// Limits: most_few elements; works in place.
// Twins:  none.
//
// Source: Batcher, Sorting networks and their applications, 1968.
#pragma once

#include "backend/cuda/cuda_warp.cuh"
#include "base/ceil_div.hpp"
#include "sort/sort_cuda.cuh"
#include "sort/sort_cuda_merge_network.cuh"

#include <algorithm>
#include <bit>

namespace tilewise::impl::sort::on_cuda {

/// Of a lane. Half as many would make more steps go between lanes, twice as many would leave compute units' schedulers
/// without a warp of 1024 elements.
inline constexpr unsigned few_held = 8;
inline constexpr unsigned most_few_lanes = 512;
inline constexpr std::uint64_t most_few = few_held * most_few_lanes;

template <class Bits, class Value>
using few_elements = held_elements<Bits, Value, few_held>;

template <class Bits, class Value>
struct few_shared {
  Bits key[few_held][most_few_lanes];
  unsigned short from[moves<Value> ? few_held : 1][most_few_lanes];
};

/// Each lane meets the one whose number differs in the bits of `across`: the lower keeps the lesser of each pair of
/// elements. Pairs have equal indices, or, if mirrored, opposite ones.
template <bool Mirrored, class Bits, class Value>
__device__ void meet(few_elements<Bits, Value>& own, unsigned across, few_shared<Bits, Value>& s) {
  few_elements<Bits, Value> other;
  if (across < warp_size) {
#pragma unroll
    for (unsigned i = 0; i < few_held; ++i) {
      const unsigned theirs = Mirrored ? few_held - 1 - i : i;
      other.key[i] = __shfl_xor_sync(all_lanes, own.key[theirs], across);
      if constexpr (moves<Value>)
        other.from[i] = static_cast<unsigned short>(__shfl_xor_sync(all_lanes, unsigned{own.from[theirs]}, across));
    }
  } else {
    __syncthreads();  // what was there before is read
#pragma unroll
    for (unsigned i = 0; i < few_held; ++i) {
      s.key[i][threadIdx.x] = own.key[i];
      if constexpr (moves<Value>) s.from[i][threadIdx.x] = own.from[i];
    }
    __syncthreads();  // all lanes have stored theirs
#pragma unroll
    for (unsigned i = 0; i < few_held; ++i) {
      const unsigned theirs = Mirrored ? few_held - 1 - i : i;
      other.key[i] = s.key[theirs][threadIdx.x ^ across];
      if constexpr (moves<Value>) other.from[i] = s.from[theirs][threadIdx.x ^ across];
    }
  }
  const bool is_lower = (threadIdx.x ^ across) > threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < few_held; ++i) {
    if constexpr (moves<Value>) {
      const bool is_less = other.key[i] < own.key[i] || (other.key[i] == own.key[i] && other.from[i] < own.from[i]);
      own.key[i] = is_less == is_lower ? other.key[i] : own.key[i];
      own.from[i] = is_less == is_lower ? other.from[i] : own.from[i];
    } else {
      own.key[i] = is_lower ? min(own.key[i], other.key[i]) : max(own.key[i], other.key[i]);
    }
  }
}

/// The last steps of a merge, within the lane.
template <unsigned Distance = few_held / 2, class Bits, class Value>
__device__ void merge_held(few_elements<Bits, Value>& own) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    // I with a 0 put in before the bits of Distance.
    (exchange<I / Distance * 2 * Distance + I % Distance, (I / Distance * 2 + 1) * Distance + I % Distance>(own), ...);
  }
  (std::make_index_sequence<few_held / 2>{});
  if constexpr (Distance > 1) merge_held<Distance / 2>(own);
}

template <class Bits, class Value>
__global__ void __launch_bounds__(most_few_lanes) sort_few(const __grid_constant__ sort_task<Bits, Value> task) {
  __shared__ few_shared<Bits, Value> shared;
  const unsigned n = static_cast<unsigned>(task.n);
  few_elements<Bits, Value> own;
#pragma unroll
  for (unsigned i = 0; i < few_held; ++i) {
    const unsigned from = i * blockDim.x + threadIdx.x;                       // any lane may hold any element at first
    own.key[i] = from < n ? task.code.encode(task.in.keys[from]) : ~Bits{0};  // those past the end stay there
    if constexpr (moves<Value>) own.from[i] = static_cast<unsigned short>(from);
  }
  sort_held(own);
#pragma unroll 1
  for (unsigned lanes = 1; lanes < blockDim.x; lanes *= 2) {
    meet<true>(own, 2 * lanes - 1, shared);
#pragma unroll 1
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) meet<false>(own, distance, shared);
    merge_held(own);
  }
  // Where there are several warps, they have met: all keys are read, which may lie where they go.
  const unsigned first = threadIdx.x * few_held;
  Value value[few_held];
  if constexpr (moves<Value>) {
#pragma unroll
    for (unsigned i = 0; i < few_held; ++i)
      if (first + i < n) value[i] = load_value(task.in.values, own.from[i]);
    __syncthreads();  // and all values
  }
#pragma unroll
  for (unsigned i = 0; i < few_held; ++i) {
    if (first + i >= n) break;
    task.out.keys[first + i] = task.code.decode(own.key[i]);
    if constexpr (moves<Value>) task.out.values[first + i] = value[i];
  }
}

template <class Bits, class Value>
void enqueue_few(const sort_task<Bits, Value>& task, queue& q) {
  const auto lanes = static_cast<unsigned>(std::bit_ceil(ceil_div(task.n, std::uint64_t{few_held})));
  sort_few<<<1, std::max(lanes, warp_size), 0, q.stream()>>>(task);
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::sort::on_cuda
