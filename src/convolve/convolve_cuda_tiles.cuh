// SPDX-License-Identifier: Apache-2.0
// What:   a group makes a tile of results. The pixels under their taps (the tile and a halo) and the mask are in shared
//         memory, the results of a thread in registers: Rows neighbouring rows of columns that lie a warp apart.
// Order:  one chain per result. Rows of the image are taken in ascending order, and with them the mask's rows.
// Shape:  groups of 8 warps; a pixel is read once for Rows results, a weight once for all columns of the thread.
// Limits: compute capability 8.0; shared memory for the pixels and the mask. Square masks of 3, 5, 7 and 9 rows are
//         unrolled.
// Twins:  convolve_serial.cpp, convolve_tiles.cl.
#pragma once

#include "convolve/convolve_cuda.cuh"
#include "matmul/matmul_cuda_copy.cuh"

namespace tilewise::impl::convolve {

using backend::cuda::pack;
using backend::cuda::pack_length;

/// A thread's columns.
template <class T>
inline constexpr unsigned columns = 16 / sizeof(T);

template <class T, unsigned Rows>
struct tile_shape {
  static constexpr unsigned tile_rows = group_rows * Rows, tile_columns = group_columns * columns<T>;

  /// Rows of the mask are whole packs in shared memory; the pixels follow them.
  TILEWISE_ANYWHERE static std::uint64_t mask_pitch(const sizes& s) {
    return (s.mask.columns + pack_length<T> - 1) / pack_length<T> * pack_length<T>;
  }
  static std::uint64_t shared_bytes(const sizes& s) {
    const std::uint64_t pixels = (tile_rows + s.mask.rows - 1) * (tile_columns + s.mask.columns - 1);
    return (s.mask.rows * mask_pitch(s) + pixels) * sizeof(T);
  }
};

/// +0 where there is nothing to copy; `from` is an address of the image in any case.
template <class T>
__device__ void copy_or_zero(T* to, const T* from, bool is_there) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
      "l"(from), "n"(sizeof(T)), "r"(is_there ? unsigned{sizeof(T)} : 0u)
      : "memory");
}

/// The pixels under the taps of the tile at (row, column), `height` rows `pitch` apart. A thread goes down its columns.
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

/// Where a thread's pixels and the mask lie in shared memory.
template <class T>
struct taps {
  const T* pixel;  // under the first tap of the thread's first result
  unsigned pitch;
  const T* weight;
  int mask_rows, mask_columns, mask_pitch;
};

/// Columns s to s + Count of the mask, for the p-th row of pixels, which belongs to the mask's row p - q for the
/// thread's row q. With Some, not every row of the thread has one.
template <unsigned Count, bool Some, unsigned Rows, class T>
__device__ void add_taps(T (&chain)[Rows][columns<T>], const taps<T>& at, int p, int s) {
  T pixel[Count][columns<T>];
#pragma unroll
  for (unsigned t = 0; t < Count; ++t)
#pragma unroll
    for (unsigned c = 0; c < columns<T>; ++c) pixel[t][c] = at.pixel[p * at.pitch + s + t + c * group_columns];
#pragma unroll
  for (int q = 0; q < static_cast<int>(Rows); ++q) {
    if (Some && (p < q || p - q >= at.mask_rows)) continue;
    const T* const from = at.weight + (p - q) * at.mask_pitch + s;
    pack<T> weight;
    if constexpr (Count == pack_length<T>) weight = *reinterpret_cast<const pack<T>*>(from);
#pragma unroll
    for (unsigned t = 0; t < Count; ++t)
#pragma unroll
      for (unsigned c = 0; c < columns<T>; ++c)
        chain[q][c] = chain[q][c] + (Count == pack_length<T> ? weight.at[t % pack_length<T>] : from[t]) * pixel[t][c];
  }
}

template <unsigned Mask, bool Some, unsigned Rows, class T>
__device__ void add_row(T (&chain)[Rows][columns<T>], const taps<T>& at, int p) {
  if constexpr (Mask != 0) {
    add_taps<Mask, Some>(chain, at, p, 0);
  } else {
    constexpr int length = pack_length<T>;
    int s = 0;
    for (; s + length <= at.mask_columns; s += length) add_taps<pack_length<T>, Some>(chain, at, p, s);
    for (; s < at.mask_columns; ++s) add_taps<1, Some>(chain, at, p, s);
  }
}

/// As many as have registers without spilling much.
template <unsigned Mask, class T>
inline constexpr unsigned groups_on_unit = Mask > 5 && sizeof(T) == 8 ? 2 : 3;

/// Mask is the mask's number of rows and of columns, or 0 for any mask.
template <unsigned Rows, unsigned Mask, class T>
__global__ void __launch_bounds__(group_size, groups_on_unit<Mask, T>) tiles(const operands<T> o) {
  extern __shared__ __align__(16) unsigned char shared[];
  using shape = tile_shape<T, Rows>;
  const tile_place tile = place_of(o, shape::tile_rows, shape::tile_columns);
  const int mask_rows = Mask != 0 ? Mask : static_cast<int>(o.mask.rows);
  const int mask_columns = Mask != 0 ? Mask : static_cast<int>(o.mask.columns);
  const auto mask_pitch = static_cast<unsigned>(shape::mask_pitch(o));
  const unsigned pitch = shape::tile_columns + mask_columns - 1;
  T* const weights = reinterpret_cast<T*>(shared);
  T* const pixels = weights + mask_rows * mask_pitch;
  copy_pixels(pixels, o, tile, shape::tile_rows + mask_rows - 1, pitch);
  matmul::commit_copies();
  copy_mask(weights, o, mask_pitch);
  matmul::wait_for_copies<0>();
  __syncthreads();

  const taps<T> at{pixels + threadIdx.y * Rows * pitch + threadIdx.x,
                   pitch,
                   weights,
                   mask_rows,
                   mask_columns,
                   static_cast<int>(mask_pitch)};
  constexpr int last = static_cast<int>(Rows) - 1;
  T chain[Rows][columns<T>] = {};
  if constexpr (Mask != 0) {
#pragma unroll
    for (int p = 0; p < last + static_cast<int>(Mask); ++p) add_row<Mask, true>(chain, at, p);
  } else {
    int p = 0;
    for (; p < last; ++p) add_row<0, true>(chain, at, p);
    for (; p < mask_rows; ++p) add_row<0, false>(chain, at, p);
    for (; p < last + mask_rows; ++p) add_row<0, true>(chain, at, p);
  }
#pragma unroll
  for (unsigned q = 0; q < Rows; ++q)
#pragma unroll
    for (unsigned c = 0; c < columns<T>; ++c) {
      const std::uint64_t i = tile.row + threadIdx.y * Rows + q, j = tile.column + threadIdx.x + c * group_columns;
      if (i < o.result.rows && j < o.result.columns) o.y[i * o.result.columns + j] = order::canonical(chain[q][c]);
    }
}

}  // namespace tilewise::impl::convolve
