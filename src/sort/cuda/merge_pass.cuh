// SPDX-License-Identifier: Apache-2.0
// What:   one pass that merges up to four runs at a time; every group writes a piece of equal length.
// Order:  where codes are equal, those of the earlier run come first.
// Shape:  one launch finds the ends of every tile's four pieces (merge_select.cuh). Then a group loads the pieces,
//         merges the first with the second and the third with the fourth, and merges the two results.
// Limits: those of the runs; a grid has fewer than 2^31 groups.
// Twins:  opencl/merge.cl, sort_axis/opencl/rows.cl.
#pragma once

#include "base/ceil_div.hpp"
#include "sort/cuda/merge_select.cuh"
#include "sort/cuda/merge_tile.cuh"

#include <cuda_pipeline.h>

namespace tilewise::impl::sort::on_cuda {

template <class Bits, class Value>
__device__ void write_keys(merge_tile<Bits, Value>& tile, Bits* to, unsigned length, const coding<Bits>& with) {
  for (unsigned i = threadIdx.x; i < length; i += blockDim.x) to[i] = with.stored(tile.keys()[i]);
}

/// Sorts `length` elements, at most a tile. Past their end lie the greatest codes; they stay after it, since the sort
/// is stable. Where values are places, the first one is `place`.
template <class Bits, class Value, class Tile = merge_tile<Bits, Value>>
__device__ void sort_one_tile(const elements<Bits, Value>& from, const elements<Bits, Value>& to, unsigned length,
                              std::uint64_t place, const coding<Bits>& with) {
  __shared__ Tile tile;
#pragma unroll
  for (unsigned r = 0; r < Tile::held; ++r) {
    const unsigned i = threadIdx.x + r * Tile::group_size;
    tile.keys()[i] = i < length ? with.loaded(from.keys[i]) : ~Bits{0};
  }
  __syncthreads();  // the tile is loaded
  sort_tile(tile);
  __syncthreads();  // and sorted
  write_keys(tile, to.keys, length, with);
  if constexpr (moves<Value>) {
    __syncthreads();  // the keys are read
    for (unsigned i = threadIdx.x; i < length; i += Tile::group_size)
      tile.values()[i] = from.values == nullptr ? static_cast<Value>(place + i) : from.values[i];
    __syncthreads();  // all values are stored
    for (unsigned i = threadIdx.x; i < length; i += Tile::group_size) to.values[i] = tile.values()[tile.from()[i]];
  }
}

/// splits[t]: where tile t begins in each of the runs that it merges.
template <class Bits, class Runs>
__global__ void split_tiles(const Bits* keys, Runs runs, unsigned tile, std::uint64_t tiles, split* splits) {
  const std::uint64_t t = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (t >= tiles) return;
  const auto group = runs.around(t * tile);
  splits[t] = select<2>(keys, runs, group, t * tile - group.begin);
}

/// The pieces of runs that a tile merges. They lie side by side in the tile, every second one backwards.
struct tile_pieces {
  unsigned first[ways + 1];  // the slots where pieces begin, and the end
  std::uint64_t base[ways];  // the place in memory that corresponds to slot 0, for each piece

  __device__ void lay_out(const split& begin, const split& end) {
    first[0] = 0;
#pragma unroll
    for (unsigned r = 0; r < ways; ++r) {
      first[r + 1] = first[r] + static_cast<unsigned>(end.at[r] - begin.at[r]);
      base[r] = r % 2 ? begin.at[r] + (first[r + 1] - 1) : begin.at[r] - first[r];
    }
  }
  template <class Runs>
  __device__ std::uint64_t source_of(unsigned slot, const Runs& runs) const {
    const unsigned r = (slot >= first[1]) + (slot >= first[2]) + (slot >= first[3]);
    return (r % 2 ? base[r] - slot : base[r] + slot) + runs.value_shift(r);
  }
};

template <class Bits, class Runs>
__device__ void load_pieces(const tile_pieces& pieces, const Bits* from, const Runs& runs, Bits* slots) {
#pragma unroll
  for (unsigned r = 0; r < ways; ++r) {
    const unsigned first = pieces.first[r], last = pieces.first[r + 1];
    const Bits* const source =
        from + (r % 2 ? pieces.base[r] - (last - 1) : pieces.base[r] + first) + runs.key_shift(r);
    Bits* const target = slots + (r % 2 ? last - 1 : first);
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < last - first; i += blockDim.x)
      __pipeline_memcpy_async(r % 2 ? target - i : target + i, source + i, sizeof(Bits));
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if constexpr (!Runs::are_codes) {
    __syncthreads();  // all pieces are loaded
    for (unsigned i = threadIdx.x; i < pieces.first[ways]; i += blockDim.x) slots[i] = runs.code(slots[i]);
  }
}

/// Merges the tile's four pieces.
template <class Bits, class Value, class Tile = merge_tile<Bits, Value>>
__device__ void merge_pieces(merge_tile<Bits, Value>& tile, const tile_pieces& pieces) {
  constexpr unsigned held = Tile::held;
  const unsigned half = pieces.first[2], length = pieces.first[4], half_lanes = ceil_div(half, held);
  const bool upper = threadIdx.x >= half_lanes;
  const facing_runs runs = upper ? facing_runs{half, pieces.first[3] - half, length - pieces.first[3], length}
                                 : facing_runs{0, pieces.first[1], half - pieces.first[1], half};
  const unsigned merged = runs.left + runs.right, diagonal = (threadIdx.x - (upper ? half_lanes : 0)) * held;
  typename Tile::piece own;
  if (diagonal < merged) merge_piece(tile, runs, diagonal, own);
  if (diagonal + held > merged) {  // the greatest codes fill the tile between the halves
#pragma unroll
    for (unsigned i = 0; i < held; ++i)
      if (diagonal + i >= merged) own.key[i] = ~Bits{0};
  }
  __syncthreads();  // all lanes have read
  put_back(tile, own, upper ? Tile::room - 1 - diagonal : diagonal, upper);
  __syncthreads();             // both halves are merged
  if (half == length) return;  // done: there are only two runs
  const unsigned first = threadIdx.x * held;
  if (first < length) {
    merge_piece(tile, {0, half, length - half, Tile::room}, first, own);
    look_up_places(tile, own);
  }
  __syncthreads();  // all lanes have read
  if (first < length) put_back(tile, own, first, false);
}

/// Tile `number` of the merged runs.
template <class Bits, class Value, class Runs, class Tile = merge_tile<Bits, Value>>
__device__ void merge_one_tile(unsigned number, const elements<Bits, Value>& from, const elements<Bits, Value>& to,
                               const Runs& runs, const split* splits, const coding<Bits>& with) {
  __shared__ Tile tile;
  __shared__ tile_pieces pieces;
  const std::uint64_t begin = std::uint64_t{number} * Tile::length, end = min(begin + Tile::length, runs.n);
  const unsigned length = static_cast<unsigned>(end - begin);
  if (threadIdx.x == 0) {
    const auto group = runs.around(begin);
    pieces.lay_out(splits[number], end == group.end() ? group.ends() : splits[number + 1]);
  }
  __syncthreads();  // the pieces to load are known
  load_pieces(pieces, from.keys, runs, tile.keys());
  __syncthreads();  // the pieces are loaded
  merge_pieces(tile, pieces);
  __syncthreads();  // and merged
  write_keys(tile, to.keys + begin, length, with);
  if constexpr (moves<Value>) {
    // Neighbours come from a few stretches of memory, so values are gathered from there. All are read before any is
    // stored: otherwise the compiler must assume that a store changes the others.
    Value value[Tile::held];
#pragma unroll
    for (unsigned r = 0; r < Tile::held; ++r) {
      const unsigned i = threadIdx.x + r * Tile::group_size;
      if (i < length) value[r] = from.values[pieces.source_of(tile.from()[i], runs)];
    }
#pragma unroll
    for (unsigned r = 0; r < Tile::held; ++r) {
      const unsigned i = threadIdx.x + r * Tile::group_size;
      if (i < length) to.values[begin + i] = value[r];
    }
  }
}

template <class Bits, class Value, class Runs, class Tile = merge_tile<Bits, Value>>
__global__ void __launch_bounds__(Tile::group_size, Tile::groups)
    merge_tiles(elements<Bits, Value> from, elements<Bits, Value> to, Runs runs, const split* splits,
                coding<Bits> with) {
  merge_one_tile(blockIdx.x, from, to, runs, splits, with);
}

template <class Bits, class Value>
unsigned tiles_of(std::uint64_t n) {
  return static_cast<unsigned>(ceil_div(n, merge_tile<Bits, Value>::length));
}

/// One pass: merges every `ways` neighbouring runs of `from` into one.
template <class Bits, class Value, class Runs>
void merge_pass(elements<Bits, Value> from, elements<Bits, Value> to, const Runs& runs, split* splits,
                const coding<Bits>& with, queue& q) {
  constexpr unsigned split_group = 64, tile = merge_tile<Bits, Value>::length;
  const unsigned tiles = tiles_of<Bits, Value>(runs.n);
  split_tiles<<<ceil_div(tiles, split_group), split_group, 0, q.stream()>>>(static_cast<const Bits*>(from.keys), runs,
                                                                            tile, tiles, splits);
  TW_CUDA(cudaGetLastError());  // if this launch failed, the next kernel would read undefined splits
  merge_tiles<<<tiles, merge_tile<Bits, Value>::group_size, 0, q.stream()>>>(from, to, runs, splits, with);
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::sort::on_cuda
