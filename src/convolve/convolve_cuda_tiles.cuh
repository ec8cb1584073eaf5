// SPDX-License-Identifier: Apache-2.0
// What:   a group makes a tile of results, a thread Rows neighbouring rows of Packs packs of columns, which are in
//         registers. A group whose pixels are all in the image, in rows that begin at packs, reads them where they lie;
//         what its threads read again is in the first-level cache. Any other group copies its pixels to shared memory
//         first, and zeros for what is beyond the edge. The mask is in shared memory.
// Order:  one chain per result. Rows of the image are taken in ascending order, and with them the mask's rows.
// Shape:  groups of 8 warps. A pack of pixels and its neighbours are read once for Rows results, and a pack of weights
//         once for all columns of the thread; packs of a thread lie a warp's width apart.
// Limits: compute capability 8.0; shared memory for the pixels and the mask. Square masks of 3, 5, 7 and 9 rows are
//         unrolled, and only with them pixels are read where they lie.
// Twins:  convolve_serial.cpp, convolve_tiles.cl.
#pragma once

#include "convolve/convolve_cuda.cuh"
#include "matmul/matmul_cuda_copy.cuh"

#include <algorithm>

namespace tilewise::impl::convolve {

using backend::cuda::pack;
using backend::cuda::pack_length;

/// Rounded up to whole packs.
template <class T>
TILEWISE_ANYWHERE constexpr std::uint64_t in_packs(std::uint64_t columns) {
  return ceil_div(columns, std::uint64_t{pack_length<T>}) * pack_length<T>;
}

template <class T, unsigned Rows, unsigned Packs>
struct tile_shape {
  static constexpr unsigned tile_rows = group_rows * Rows, tile_columns = group_columns * pack_length<T> * Packs;

  /// Tiles begin so many columns before the first result that their pixels begin at a pack of the image.
  TILEWISE_ANYWHERE static std::uint64_t before(const sizes& s) { return (0 - s.left) % pack_length<T>; }
  TILEWISE_ANYWHERE static std::uint64_t across(const sizes& s) {
    return ceil_div(s.result.columns + before(s), std::uint64_t{tile_columns});
  }
  static std::uint64_t tiles(const sizes& s) { return across(s) * ceil_div(s.result.rows, std::uint64_t{tile_rows}); }
  /// Of the pixels in shared memory, which follow the mask.
  TILEWISE_ANYWHERE static std::uint64_t pitch(const sizes& s) {
    return in_packs<T>(tile_columns + s.mask.columns - 1);
  }
  static std::uint64_t shared_bytes(const sizes& s) {
    return (s.mask.rows * in_packs<T>(s.mask.columns) + (tile_rows + s.mask.rows - 1) * pitch(s)) * sizeof(T);
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

/// `height` rows of pixels from (row, column) on, `pitch` apart. A thread goes down its columns.
template <class T>
__device__ void copy_pixels(T* to, const operands<T>& o, tile_place first, unsigned height, unsigned pitch) {
  for (unsigned j = threadIdx.x; j < pitch; j += group_columns) {
    const std::uint64_t column = first.column + j;
    for (unsigned i = threadIdx.y; i < height; i += group_rows) {
      const std::uint64_t row = first.row + i;
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

/// Where a thread finds what its results are made of.
template <class T>
struct taps {
  const T* pixel;  // under the first tap of the thread's first result
  std::uint64_t pitch;
  const T* weight;
  int mask_rows, mask_columns, mask_pitch;
};

/// The next Count pixels; whole packs are read. In place: in the image, where no group of the launch writes.
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

/// A thread's chains, and what it adds to them.
template <unsigned Rows, unsigned Packs, class T>
struct chains {
  static constexpr unsigned length = pack_length<T>;
  T at[Rows][Packs][length] = {};

  /// Taps `first` to `first + Count` of a row of the mask, for the p-th row of pixels, which belongs to the mask's row
  /// p - q for the thread's row q. With Some, not every row of the thread has one.
  template <unsigned Count, bool Some, unsigned Width>
  __device__ __forceinline__ void add(const taps<T>& from, const T (&pixel)[Packs][Width], int p, int first) {
#pragma unroll
    for (int q = 0; q < static_cast<int>(Rows); ++q) {
      if (Some && (p < q || p - q >= from.mask_rows)) continue;
      T weight[Count];
      load<Count, false>(weight, from.weight + (p - q) * from.mask_pitch + first);
#pragma unroll
      for (unsigned t = 0; t < Count; ++t)
#pragma unroll
        for (unsigned k = 0; k < Packs; ++k)
#pragma unroll
          for (unsigned c = 0; c < length; ++c) at[q][k][c] = at[q][k][c] + weight[t] * pixel[k][t + c];
    }
  }

  /// All of a square mask, unrolled.
  template <unsigned Mask, bool InPlace>
  __device__ __forceinline__ void add_mask(const taps<T>& from) {
#pragma unroll
    for (int p = 0; p < static_cast<int>(Rows + Mask) - 1; ++p) {
      T pixel[Packs][length + Mask - 1];
#pragma unroll
      for (unsigned k = 0; k < Packs; ++k)
        load<length + Mask - 1, InPlace>(pixel[k], from.pixel + p * from.pitch + k * group_columns * length);
      add<Mask, true>(from, pixel, p, 0);
    }
  }

  /// Any row: of each pack of columns, the pixels under a pack of taps move through registers.
  template <bool Some>
  __device__ __forceinline__ void add_row(const taps<T>& from, int p) {
    const T* const row = from.pixel + p * from.pitch;
    T pixel[Packs][2 * length];
    const auto load_next = [&](unsigned to, int first) {
#pragma unroll
      for (unsigned k = 0; k < Packs; ++k) load<length, false>(pixel[k] + to, row + first + k * group_columns * length);
    };
    load_next(0, 0);
    int s = 0;
#pragma unroll 2
    for (; s + static_cast<int>(length) <= from.mask_columns; s += length) {
      load_next(length, s + length);
      add<length, Some>(from, pixel, p, s);
#pragma unroll
      for (unsigned k = 0; k < Packs; ++k)
#pragma unroll
        for (unsigned i = 0; i < length; ++i) pixel[k][i] = pixel[k][length + i];
    }
    if (length == 4 && from.mask_columns - s == 3) {
      load_next(length, s + length);
      add<length - 1, Some>(from, pixel, p, s);
    } else {
      add<1, Some>(from, pixel, p, s);  // the number of columns is odd
    }
  }

  __device__ __forceinline__ void add_any_mask(const taps<T>& from) {
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

inline __device__ bool lies_in(std::uint64_t first, std::uint64_t count, std::uint64_t size) {
  return first <= size && count <= size - first;
}

/// A warp's results in one row, a pack of each lane, from y[first] on, where first may be negative. Rows that do not
/// begin at packs are stored lane after lane, by way of shared memory: elements of one lane lie in one line.
template <class T>
__device__ __forceinline__ void store_results(T* y, std::uint64_t columns, std::uint64_t first, const T* results,
                                              T* shared) {
  constexpr unsigned length = pack_length<T>;
  pack<T> ready;
#pragma unroll
  for (unsigned c = 0; c < length; ++c) ready.at[c] = order::canonical(results[c]);
  if (lies_in(first, group_columns * length, columns) && matmul::is_packable(y + first, 0)) {
    backend::cuda::store_pack(y + first + threadIdx.x * length, ready);
    return;
  }
  __syncwarp();  // what was there is stored
  backend::cuda::store_pack(shared + threadIdx.x * length, ready);
  __syncwarp();
#pragma unroll
  for (unsigned c = 0; c < length; ++c) {
    const unsigned e = threadIdx.x + c * group_columns;
    if (first + e < columns) y[first + e] = shared[e];
  }
}

/// As many as have registers without spilling much.
template <unsigned Mask, unsigned Packs, class T>
inline constexpr unsigned groups_on_unit = std::max(2u, (Packs == 1 ? 4u : 3u) - (Mask > 5 ? 1u : 0u) -
                                                            (sizeof(T) == 8 ? 1u : 0u));

/// Mask is the mask's number of rows and of columns, or 0 for any mask.
template <unsigned Mask, unsigned Rows, unsigned Packs, class T>
__global__ void __launch_bounds__(group_size, groups_on_unit<Mask, Packs, T>) tiles(const operands<T> o) {
  extern __shared__ __align__(16) unsigned char shared[];
  using shape = tile_shape<T, Rows, Packs>;
  constexpr unsigned length = pack_length<T>;
  const auto across = static_cast<unsigned>(shape::across(o));
  const std::uint64_t row = std::uint64_t{blockIdx.x / across} * shape::tile_rows,
                      column = std::uint64_t{blockIdx.x % across} * shape::tile_columns - shape::before(o);
  const tile_place first{row - o.above, column - o.left};  // wraps far beyond the image where negative
  const int mask_rows = Mask != 0 ? Mask : static_cast<int>(o.mask.rows);
  const int mask_columns = Mask != 0 ? Mask : static_cast<int>(o.mask.columns);
  const auto mask_pitch = static_cast<unsigned>(in_packs<T>(mask_columns));
  const unsigned height = shape::tile_rows + mask_rows - 1,
                 pitch = static_cast<unsigned>(in_packs<T>(shape::tile_columns + mask_columns - 1));
  T* const weights = reinterpret_cast<T*>(shared);
  T* const pixels = weights + mask_rows * mask_pitch;
  copy_mask(weights, o, mask_pitch);

  chains<Rows, Packs, T> results;
  taps<T> from{nullptr, pitch, weights, mask_rows, mask_columns, static_cast<int>(mask_pitch)};
  const unsigned down = threadIdx.y * Rows, right = threadIdx.x * length;
  if (Mask != 0 && matmul::is_packable(o.x, o.image.columns) && lies_in(first.row, height, o.image.rows) &&
      lies_in(first.column, pitch, o.image.columns)) {
    __syncthreads();
    from.pixel = o.x + (first.row + down) * o.image.columns + first.column + right;
    from.pitch = o.image.columns;
    if constexpr (Mask != 0) results.template add_mask<Mask, true>(from);
  } else {
    copy_pixels(pixels, o, first, height, pitch);
    matmul::commit_copies();
    matmul::wait_for_copies<0>();
    __syncthreads();
    from.pixel = pixels + down * pitch + right;
    if constexpr (Mask != 0)
      results.template add_mask<Mask, false>(from);
    else
      results.add_any_mask(from);
    __syncthreads();  // nobody needs the pixels any more
  }

  T* const of_warp = pixels + threadIdx.y * group_columns * length;
#pragma unroll
  for (unsigned q = 0; q < Rows; ++q) {
    const std::uint64_t i = row + down + q;
    if (i >= o.result.rows) return;
#pragma unroll
    for (unsigned k = 0; k < Packs; ++k)
      store_results(o.y + i * o.result.columns, o.result.columns, column + k * group_columns * length, results.at[q][k],
                    of_warp);
  }
}

}  // namespace tilewise::impl::convolve
