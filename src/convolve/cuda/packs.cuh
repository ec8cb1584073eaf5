// SPDX-License-Identifier: Apache-2.0
// What:   a group computes a tile of results; a thread computes Rows neighbouring rows of Packs packs of columns in its
//         registers. The mask and the pixels under the tile's taps are in shared memory. For each pack of columns, the
//         pixels under a pack of taps move through registers.
// Order:  one chain per result. It takes the rows of the image, and so those of the mask, in ascending order.
// Shape:  groups of 8 warps. A pixel is read once for Rows results in each row of the mask, a pack of weights once for
//         all columns of the thread; packs of a thread lie a warp's width apart.
// Limits: compute capability 8.0; shared memory for the pixels and the mask.
// Twins:  serial.cpp, opencl/tiles.cl.
#pragma once

#include "convolve/cuda/pixels.cuh"

namespace tilewise::impl::convolve {

template <class T, unsigned Rows, unsigned Packs>
struct pack_shape {
  static constexpr unsigned tile_rows = group_rows * Rows, tile_columns = group_columns * pack_length<T> * Packs;

  /// The pitch of the pixels in shared memory, where they follow the mask.
  TILEWISE_ANYWHERE static std::uint64_t pitch(const sizes& s) {
    return in_packs<T>(tile_columns + s.mask.columns - 1);
  }
  static std::uint64_t shared_bytes(const sizes& s) {
    return (s.mask.rows * in_packs<T>(s.mask.columns) + (tile_rows + s.mask.rows - 1) * pitch(s)) * sizeof(T);
  }
};

/// Where a thread finds its pixels and the mask.
template <class T>
struct pack_taps {
  const T* pixel;  // under the first tap of the thread's first result
  unsigned pitch;
  const T* weight;
  int mask_rows, mask_columns, mask_pitch;
};

/// A thread's chains, and the pixels that it adds to them. For each of its packs of columns it holds two packs of
/// pixels. Element e of a row is in place e % window, so that nothing moves while the taps go along the row.
template <unsigned Rows, unsigned Packs, class T>
struct chains {
  static constexpr unsigned length = pack_length<T>, window = 2 * length;
  T at[Rows][Packs][length] = {};
  T pixel[Packs][window];

  /// Loads elements from row[first] on. First is `first` % window.
  template <unsigned First>
  __device__ __forceinline__ void load_pixels(const T* row, int first) {
#pragma unroll
    for (unsigned k = 0; k < Packs; ++k)
      load<length, false>(pixel[k] + First, row + first + k * group_columns * length);
  }

  /// Adds Count taps of a row of the mask. The first tap is at `weights`, and over the pixels at First. For row q of
  /// the thread, the p-th row of pixels meets row p - q of the mask. With Some, this row does not exist for every q.
  template <unsigned First, unsigned Count, bool Some>
  __device__ __forceinline__ void add(const pack_taps<T>& from, const T* weights, int p) {
#pragma unroll
    for (int q = 0; q < static_cast<int>(Rows); ++q) {
      if (Some && (p < q || p - q >= from.mask_rows)) continue;
      T weight[Count];
      load<Count, false>(weight, weights - q * from.mask_pitch);
#pragma unroll
      for (unsigned t = 0; t < Count; ++t)
#pragma unroll
        for (unsigned k = 0; k < Packs; ++k)
#pragma unroll
          for (unsigned c = 0; c < length; ++c)
            at[q][k][c] = at[q][k][c] + weight[t] * pixel[k][(First + t + c) % window];
    }
  }

  /// Adds the last taps of a row, from the s-th on. Their number is odd, and less than a pack.
  template <unsigned First, bool Some>
  __device__ __forceinline__ void add_last(const pack_taps<T>& from, const T* row, const T* weights, int p, int s) {
    if (length == 4 && from.mask_columns - s == 3) {
      load_pixels<length - First>(row, s + length);
      add<First, length - 1, Some>(from, weights + s, p);
    } else {
      add<First, 1, Some>(from, weights + s, p);
    }
  }

  template <bool Some>
  __device__ __forceinline__ void add_row(const pack_taps<T>& from, int p) {
    const T *const row = from.pixel + p * from.pitch, *const weights = from.weight + p * from.mask_pitch;
    load_pixels<0>(row, 0);
    int s = 0;
#pragma unroll 1
    for (; s + static_cast<int>(window) <= from.mask_columns; s += window) {
      load_pixels<length>(row, s + length);
      add<0, length, Some>(from, weights + s, p);
      load_pixels<0>(row, s + window);
      add<length, length, Some>(from, weights + s + length, p);
    }
    if (s + static_cast<int>(length) > from.mask_columns) {
      add_last<0, Some>(from, row, weights, p, s);
    } else {
      load_pixels<length>(row, s + length);
      add<0, length, Some>(from, weights + s, p);
      add_last<length, Some>(from, row, weights, p, s + length);
    }
  }

  __device__ __forceinline__ void add_mask(const pack_taps<T>& from) {
    constexpr int last = static_cast<int>(Rows) - 1;
    int p = 0;
#pragma unroll 1
    for (; p < last; ++p) add_row<true>(from, p);
#pragma unroll 1
    for (; p < from.mask_rows; ++p) add_row<false>(from, p);
#pragma unroll 1
    for (; p < last + from.mask_rows; ++p) add_row<true>(from, p);
  }
};

/// As many groups per multiprocessor as have enough registers without spilling much.
template <unsigned Packs, class T>
inline constexpr unsigned pack_groups_on_unit = (Packs == 1 ? 4 : 3) - (sizeof(T) == 8 ? 1 : 0);

template <unsigned Rows, unsigned Packs, class T>
__global__ void __launch_bounds__(group_size, pack_groups_on_unit<Packs, T>) packs(const operands<T> o) {
  extern __shared__ __align__(16) unsigned char shared[];
  using shape = pack_shape<T, Rows, Packs>;
  constexpr unsigned length = pack_length<T>;
  const tile_place tile = place_of(o, shape::tile_rows, shape::tile_columns);
  const auto mask_rows = static_cast<int>(o.mask.rows), mask_columns = static_cast<int>(o.mask.columns);
  const auto mask_pitch = static_cast<unsigned>(in_packs<T>(o.mask.columns)),
             pitch = static_cast<unsigned>(shape::pitch(o));
  T* const weights = reinterpret_cast<T*>(shared);
  T* const pixels = weights + mask_rows * mask_pitch;
  copy_operands(pixels, shape::tile_rows + mask_rows - 1, pitch, weights, mask_pitch, o, tile);

  const unsigned down = threadIdx.y * Rows;
  chains<Rows, Packs, T> results;
  results.add_mask({pixels + down * pitch + threadIdx.x * length, pitch, weights, mask_rows, mask_columns,
                    static_cast<int>(mask_pitch)});
  __syncthreads();  // nobody needs the pixels any more

  constexpr unsigned across = group_columns * length;
#pragma unroll
  for (unsigned q = 0; q < Rows; ++q) {
    const std::uint64_t i = tile.row + down + q;
    if (i >= o.result.rows) return;
#pragma unroll
    for (unsigned k = 0; k < Packs; ++k) {
      const std::uint64_t first = tile.column + k * across;
      store_results(o.y + i * o.result.columns, o.result.columns, first, lies_in(first, across, o.result.columns),
                    results.at[q][k], pixels + threadIdx.y * across);
    }
  }
}

}  // namespace tilewise::impl::convolve
