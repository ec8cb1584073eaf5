// SPDX-License-Identifier: Apache-2.0
// What:   a group computes a tile of results. The mask and the pixels under the taps (the tile and a halo) are in
//         shared memory. A thread has its results in registers: Rows neighbouring rows of columns that lie a warp
//         apart.
// Order:  one chain per result. It takes the rows of the image, and so those of the mask, in ascending order.
// Shape:  groups of 8 warps; a pixel is read once for Rows results, a weight once for all columns of the thread.
// Limits: compute capability 8.0; square masks, whose loops are unrolled.
// Twins:  serial.cpp, opencl/tiles.cl.
#pragma once

#include "convolve/cuda/pixels.cuh"

namespace tilewise::impl::convolve {

template <class T, unsigned Rows>
struct tile_shape {
  static constexpr unsigned tile_rows = group_rows * Rows, tile_columns = group_columns * pack_length<T>;

  /// Rows of the mask are whole packs in shared memory; the pixels follow them.
  static std::uint64_t shared_bytes(const sizes& s) {
    const std::uint64_t pixels = (tile_rows + s.mask.rows - 1) * (tile_columns + s.mask.columns - 1);
    return (s.mask.rows * in_packs<T>(s.mask.columns) + pixels) * sizeof(T);
  }
};

/// Where a thread's pixels and the mask lie in shared memory.
template <class T>
struct taps {
  const T* pixel;  // under the first tap of the thread's first result
  unsigned pitch;
  const T* weight;
  unsigned mask_pitch;
};

/// Adds the p-th row of pixels. For row q of the thread it meets row p - q of the mask, if there is such a row.
template <unsigned Mask, unsigned Rows, class T>
__device__ void add_row(T (&chain)[Rows][pack_length<T>], const taps<T>& at, int p) {
  T pixel[Mask][pack_length<T>];
#pragma unroll
  for (unsigned s = 0; s < Mask; ++s)
#pragma unroll
    for (unsigned c = 0; c < pack_length<T>; ++c) pixel[s][c] = at.pixel[p * at.pitch + s + c * group_columns];
#pragma unroll
  for (int q = 0; q < static_cast<int>(Rows); ++q) {
    if (p < q || p - q >= static_cast<int>(Mask)) continue;
#pragma unroll
    for (unsigned s = 0; s < Mask; ++s)
#pragma unroll
      for (unsigned c = 0; c < pack_length<T>; ++c)
        chain[q][c] = chain[q][c] + at.weight[(p - q) * at.mask_pitch + s] * pixel[s][c];
  }
}

/// As many groups per multiprocessor as have enough registers without spilling much.
template <unsigned Mask, class T>
inline constexpr unsigned groups_on_unit = Mask > 5 && sizeof(T) == 8 ? 2 : 3;

/// Mask is the mask's number of rows and of columns.
template <unsigned Rows, unsigned Mask, class T>
__global__ void __launch_bounds__(group_size, groups_on_unit<Mask, T>) tiles(const operands<T> o) {
  extern __shared__ __align__(16) unsigned char shared[];
  using shape = tile_shape<T, Rows>;
  const tile_place tile = place_of(o, shape::tile_rows, shape::tile_columns);
  constexpr unsigned mask_pitch = in_packs<T>(Mask), pitch = shape::tile_columns + Mask - 1;
  T* const weights = reinterpret_cast<T*>(shared);
  T* const pixels = weights + Mask * mask_pitch;
  copy_operands(pixels, shape::tile_rows + Mask - 1, pitch, weights, mask_pitch, o, tile);

  const taps<T> at{pixels + threadIdx.y * Rows * pitch + threadIdx.x, pitch, weights, mask_pitch};
  T chain[Rows][pack_length<T>] = {};
#pragma unroll
  for (int p = 0; p < static_cast<int>(Rows + Mask) - 1; ++p) add_row<Mask>(chain, at, p);
#pragma unroll
  for (unsigned q = 0; q < Rows; ++q)
#pragma unroll
    for (unsigned c = 0; c < pack_length<T>; ++c) {
      const std::uint64_t i = tile.row + threadIdx.y * Rows + q, j = tile.column + threadIdx.x + c * group_columns;
      if (i < o.result.rows && j < o.result.columns) o.y[i * o.result.columns + j] = order::canonical(chain[q][c]);
    }
}

}  // namespace tilewise::impl::convolve
