// SPDX-License-Identifier: Apache-2.0
// What:   copies pixels and the mask to shared memory for CUDA convolutions. For those whose threads compute
//         neighbouring columns, also loads pixels and stores results in packs of 16 bytes.
// Order:  none; only data moves.
// Shape:  groups of 8 warps copy; a warp loads and stores a pack of each lane in a row.
// Limits: compute capability 8.0.
// Twins:  none.
#pragma once

#include "convolve/cuda/shared.cuh"
#include "matmul/cuda/copy.cuh"

namespace tilewise::impl::convolve {

using backend::cuda::pack;
using backend::cuda::pack_length;

/// Rounded up to whole packs.
template <class T>
TILEWISE_ANYWHERE constexpr std::uint64_t in_packs(std::uint64_t columns) {
  return ceil_div(columns, std::uint64_t{pack_length<T>}) * pack_length<T>;
}

/// Copies an element, or +0 if there is nothing to copy. `from` must be an address in the image in either case.
template <class T>
__device__ void copy_or_zero(T* to, const T* from, bool is_there) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
      "l"(from), "n"(sizeof(T)), "r"(is_there ? unsigned{sizeof(T)} : 0u)
      : "memory");
}

/// Copies the pixels under the taps of the tile at (row, column): `height` rows, `pitch` apart. A thread goes down its
/// columns.
template <class T>
__device__ void copy_pixels(T* to, const operands<T>& o, tile_place tile, unsigned height, unsigned pitch) {
  for (unsigned j = threadIdx.x; j < pitch; j += group_columns) {
    const std::uint64_t column = tile.column + j - o.left;  // wraps far beyond the image where negative
    for (unsigned i = threadIdx.y; i < height; i += group_rows) {
      const std::uint64_t row = tile.row + i - o.above;
      const bool is_there = column < o.image.columns && row < o.image.rows;
      copy_or_zero(to + i * pitch + j, is_there ? o.x + row * o.image.columns + column : o.x, is_there);
    }
  }
}

template <class T>
__device__ void copy_mask(T* to, const operands<T>& o, unsigned pitch) {
  const auto mask_columns = static_cast<unsigned>(o.mask.columns),
             count = static_cast<unsigned>(o.mask.rows) * mask_columns;
  for (unsigned i = threadIdx.y * group_columns + threadIdx.x; i < count; i += group_size)
    to[i / mask_columns * pitch + i % mask_columns] = o.weights[i];
}

/// Copies these pixels and the mask, by all threads of the group. Returns when they are in shared memory.
template <class T>
__device__ __forceinline__ void copy_operands(T* pixels, unsigned height, unsigned pitch, T* weights,
                                              unsigned mask_pitch, const operands<T>& o, tile_place tile) {
  copy_pixels(pixels, o, tile, height, pitch);
  matmul::commit_copies();
  copy_mask(weights, o, mask_pitch);
  matmul::wait_for_copies<0>();
  __syncthreads();
}

/// Loads the next Count pixels, in whole packs. InPlace: from the image, which no group of the launch writes.
template <unsigned Count, bool InPlace, class T>
__device__ __forceinline__ void load(T* to, const T* from) {
  constexpr unsigned length = pack_length<T>;
#pragma unroll
  for (unsigned e = 0; e < Count; e += length) {
    pack<T> next;
    if constexpr (InPlace)
      next = backend::cuda::load_pack_cached(from + e);
    else
      next = *reinterpret_cast<const pack<T>*>(from + e);
#pragma unroll
    for (unsigned i = 0; i < length && e + i < Count; ++i) to[e + i] = next.at[i];
  }
}

inline __device__ bool lies_in(std::uint64_t first, std::uint64_t count, std::uint64_t size) {
  return first <= size && count <= size - first;
}

/// Stores a warp's results in one row, a pack of each lane, from y[first] on; `first` may be negative. `is_inside` says
/// that all of them are in the row. If they do not begin at a pack, they are stored one element per lane, through
/// shared memory, so that each store of the warp lies in one line.
template <class T>
__device__ __forceinline__ void store_results(T* y, std::uint64_t columns, std::uint64_t first, bool is_inside,
                                              const T* results, T* shared) {
  constexpr unsigned length = pack_length<T>;
  pack<T> ready;
#pragma unroll
  for (unsigned c = 0; c < length; ++c) ready.at[c] = order::canonical(results[c]);
  if (is_inside && matmul::is_packable(y + first, 0)) {
    backend::cuda::store_pack(y + first + threadIdx.x * length, ready);
    return;
  }
  __syncwarp();  // what was there is stored
  backend::cuda::store_pack(shared + threadIdx.x * length, ready);
  __syncwarp();
#pragma unroll
  for (unsigned c = 0; c < length; ++c) {
    const unsigned e = threadIdx.x + c * group_columns;
    if (is_inside || first + e < columns) y[first + e] = shared[e];
  }
}

}  // namespace tilewise::impl::convolve
