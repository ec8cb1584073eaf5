// SPDX-License-Identifier: Apache-2.0
// What:   a thread computes a block of results: a pack of neighbouring columns in four neighbouring rows. It reads
//         pixels from the image in place, since the first-level cache holds what its neighbours read too. Pixels are
//         read in packs. Warps at an edge, and warps whose packs do not begin at multiples of 16 bytes, read single
//         elements.
// Order:  one chain per result. It takes the rows of the image, and so those of the mask, in ascending order.
// Shape:  groups of 8 warps below each other; all loops over a mask are unrolled, except at the edges.
// Limits: square masks.
// Twins:  serial.cpp, opencl/blocks.cl.
#pragma once

#include "convolve/cuda/pixels.cuh"

namespace tilewise::impl::convolve {

/// The tile of a group. It begins so many columns before the first result that its pixels begin at a pack of the image.
template <class T>
struct block_tile {
  static constexpr unsigned rows = 4, tile_rows = group_rows * rows, tile_columns = group_columns * pack_length<T>;

  TILEWISE_ANYWHERE static std::uint64_t before(const sizes& s) { return (0 - s.left) % pack_length<T>; }
  TILEWISE_ANYWHERE static std::uint64_t across(const sizes& s) {
    return ceil_div(s.result.columns + before(s), std::uint64_t{tile_columns});
  }
  static std::uint64_t tiles(const sizes& s) { return across(s) * ceil_div(s.result.rows, std::uint64_t{tile_rows}); }
};

/// A square mask. The nine weights of a 3 x 3 mask stay in registers. A row of a larger mask is read from shared memory
/// when it is needed.
template <unsigned Mask, class T>
class square_mask {
  static constexpr unsigned pitch = in_packs<T>(Mask);
  static constexpr bool is_kept = Mask == 3;
  const T* shared_;
  T kept_[is_kept ? Mask : 1][Mask];

 public:
  static constexpr unsigned room = Mask * pitch;

  /// All threads of the group must call it together.
  __device__ __forceinline__ square_mask(T* shared, const operands<T>& o) : shared_(shared) {
    copy_mask(shared, o, pitch);
    __syncthreads();
    if constexpr (is_kept)
#pragma unroll
      for (unsigned r = 0; r < Mask; ++r) load<Mask, false>(kept_[r], shared + r * pitch);
  }
  /// With Unrolled, the compiler knows r, so that r can select registers.
  template <bool Unrolled>
  __device__ __forceinline__ void row(T (&to)[Mask], int r) const {
    if constexpr (is_kept && Unrolled) {
#pragma unroll
      for (unsigned s = 0; s < Mask; ++s) to[s] = kept_[r][s];
    } else {
      load<Mask, false>(to, shared_ + r * static_cast<int>(pitch));
    }
  }
};

/// The work of a thread: its chains, and the pixels under one row of the mask for all its columns.
template <unsigned Mask, class T>
struct block {
  static constexpr int rows = block_tile<T>::rows;
  static constexpr unsigned columns = pack_length<T>, width = columns + Mask - 1;
  T chain[rows][columns] = {};
  T pixel[width];

  /// Adds the p-th row of pixels. For row q of the block it meets row p - q of the mask.
  template <bool Unrolled, class Weights>
  __device__ __forceinline__ void add(const Weights& mask, int p) {
#pragma unroll
    for (int q = 0; q < rows; ++q) {
      if (p < q || p - q >= static_cast<int>(Mask)) continue;
      T weight[Mask];
      mask.template row<Unrolled>(weight, p - q);
#pragma unroll
      for (unsigned s = 0; s < Mask; ++s)
#pragma unroll
        for (unsigned c = 0; c < columns; ++c) chain[q][c] = chain[q][c] + weight[s] * pixel[s + c];
    }
  }
};

/// As many groups per multiprocessor as have enough registers without spilling much.
template <unsigned Mask, class T>
inline constexpr unsigned block_groups_on_unit = 4 - (Mask > 5 ? 1 : 0) - (sizeof(T) == 8 ? 1 : 0);

template <unsigned Mask, class T>
__global__ void __launch_bounds__(group_size, block_groups_on_unit<Mask, T>) blocks(const operands<T> o) {
  using tile = block_tile<T>;
  using work = block<Mask, T>;
  constexpr unsigned length = pack_length<T>, reach = in_packs<T>(tile::tile_columns + Mask - 1);
  constexpr int height = work::rows + static_cast<int>(Mask) - 1;
  __shared__ __align__(16) T weights[square_mask<Mask, T>::room], stage[group_rows][tile::tile_columns];
  const square_mask<Mask, T> mask(weights, o);

  const auto across = static_cast<unsigned>(tile::across(o));
  const std::uint64_t row = std::uint64_t{blockIdx.x / across} * tile::tile_rows + threadIdx.y * tile::rows,
                      column = std::uint64_t{blockIdx.x % across} * tile::tile_columns - tile::before(o);
  if (row >= o.result.rows) return;
  const tile_place first{row - o.above, column - o.left};  // wraps far beyond the image where negative
  const std::uint64_t mine = first.column + threadIdx.x * length;
  const T* x = o.x + first.row * o.image.columns + mine;
  work w;
  const bool is_inside = lies_in(first.row, height, o.image.rows) && lies_in(first.column, reach, o.image.columns);
  if (is_inside && matmul::is_packable(o.x, o.image.columns)) {
#pragma unroll
    for (int p = 0; p < height; ++p, x += o.image.columns) {
      load<work::width, true>(w.pixel, x);
      w.template add<true>(mask, p);
    }
  } else {
#pragma unroll 1
    for (int p = 0; p < height; ++p, x += o.image.columns) {
#pragma unroll
      for (unsigned e = 0; e < work::width; ++e)
        w.pixel[e] = first.row + p < o.image.rows && mine + e < o.image.columns ? __ldg(x + e) : T(0);
      w.template add<false>(mask, p);
    }
  }
#pragma unroll
  for (int q = 0; q < work::rows; ++q) {
    if (!is_inside && row + q >= o.result.rows) return;
    store_results(o.y + (row + q) * o.result.columns, o.result.columns, column, is_inside, w.chain[q],
                  stage[threadIdx.y]);
  }
}

/// Runs the variant `blocks`. It accepts every problem that `boxes` accepts, and images that begin at any address.
void run_blocks(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                backend::queue& on);

}  // namespace tilewise::impl::convolve
