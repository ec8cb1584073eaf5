// SPDX-License-Identifier: Apache-2.0
// What:   the sort of few elements on CUDA: by one group, in one launch.
// Order:  that of sort_tile: of equal codes the earlier element comes first.
// Shape:  as few lanes as hold the elements, each some in registers, merge them in shared memory.
// Limits: the elements of one tile; works in place.
// Twins:  none.
#pragma once

#include "base/ceil_div.hpp"
#include "sort/sort_cuda_merge_tile.cuh"

#include <algorithm>
#include <bit>

namespace tilewise::impl::sort::on_cuda {

/// Lanes that hold fewer elements are more at the same number of elements, and each has less to do.
template <class Bits, class Value>
using few_tile = merge_tile<Bits, Value, 9>;

/// `lanes` of the group, a power of two, hold all elements.
template <class Bits, class Value, class Tile = few_tile<Bits, Value>>
__global__ void __launch_bounds__(Tile::group_size)
    sort_few(const __grid_constant__ sort_task<Bits, Value> task, unsigned lanes) {
  __shared__ Tile tile;
  const unsigned n = static_cast<unsigned>(task.n);
#pragma unroll
  for (unsigned r = 0; r < Tile::held; ++r) {  // past the end lie the greatest codes, which stay there
    const unsigned i = threadIdx.x + r * blockDim.x;
    tile.keys()[i] = i < n ? task.code.encode(task.in.keys[i]) : ~Bits{0};
  }
  __syncthreads();  // the tile is loaded
  sort_tile(tile, lanes);
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
  return task.n <= few_tile<Bits, Value>::room;
}

template <class Bits, class Value>
void enqueue_few(const sort_task<Bits, Value>& task, queue& q) {
  const unsigned lanes = std::bit_ceil(static_cast<unsigned>(ceil_div(task.n, few_tile<Bits, Value>::held)));
  sort_few<Bits, Value><<<1, std::max(lanes, warp_size), 0, q.stream()>>>(task, lanes);
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::sort::on_cuda
