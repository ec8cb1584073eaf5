// SPDX-License-Identifier: Apache-2.0
// What:   a group computes one tile of results after the other. Meanwhile the hardware copies the box of pixels under
//         the next tile to shared memory, with zeros beyond the image. Each thread computes a block of results, as in
//         blocks.cuh. Weights are in registers.
// Order:  one chain per result. It takes the rows of the image, and so those of the mask, in ascending order.
// Shape:  groups of 8 warps below each other, as many as run at once; all loops over a mask are unrolled.
// Limits: f32; compute capability 9.0; square masks; images whose rows begin at multiples of 16 bytes.
// Twins:  serial.cpp.
#pragma once

#include "backend/cuda/pipeline.cuh"
#include "backend/cuda/tensor_map.hpp"
#include "convolve/cuda/blocks.cuh"

namespace tilewise::impl::convolve {

/// A box begins Before columns left of the first pixel: at a pack of the image, where copies must begin.
template <unsigned Mask, unsigned Before, class T>
struct box_tile {
  static constexpr unsigned rows = block_tile<T>::tile_rows, columns = block_tile<T>::tile_columns,
                            height = rows + Mask - 1, pitch = in_packs<T>(Before + columns + Mask - 1),
                            bytes = height * pitch * sizeof(T), room = ceil_div(bytes, 128u) * 128 / sizeof(T);

  TILEWISE_ANYWHERE static std::uint64_t across(const sizes& s) {
    return ceil_div(s.result.columns, std::uint64_t{columns});
  }
  TILEWISE_ANYWHERE static std::uint64_t tiles(const sizes& s) {
    return across(s) * ceil_div(s.result.rows, std::uint64_t{rows});
  }
};

/// Returns a value that is the same in all lanes, by a reduction. So the compiler knows that it is the same, and can
/// keep it in a uniform register, which exists once per warp and not once per lane.
__device__ __forceinline__ float uniform(float value) {
  return __uint_as_float(__reduce_or_sync(backend::cuda::all_lanes, __float_as_uint(value)));
}

/// A square mask with the interface that a block needs.
template <unsigned Mask, class T>
struct kept_mask {
  T weight[Mask][Mask];

  __device__ __forceinline__ explicit kept_mask(const T* from) {
#pragma unroll
    for (unsigned i = 0; i < Mask * Mask; ++i) weight[i / Mask][i % Mask] = uniform(from[i]);
  }
  template <bool Unrolled>
  __device__ __forceinline__ void row(T (&to)[Mask], int r) const {
#pragma unroll
    for (unsigned s = 0; s < Mask; ++s) to[s] = weight[r][s];
  }
};

/// As many groups per multiprocessor as have enough registers without spilling much.
template <unsigned Mask, class T>
inline constexpr unsigned box_groups_on_unit = Mask == 7 ? 4 : 3;

/// The results of the tile at (row, column) in the thread's rows, from a box in shared memory.
template <unsigned Mask, unsigned Before, class T>
__device__ __forceinline__ void make_tile(const operands<T>& o, const kept_mask<Mask, T>& mask, tile_place at,
                                          const T* box, T* stage) {
  using tile = box_tile<Mask, Before, T>;
  using work = block<Mask, T>;
  const unsigned down = threadIdx.y * work::rows;
  const T* x = box + down * tile::pitch + threadIdx.x * work::columns;
  work w;
#pragma unroll
  for (int p = 0; p < work::rows + static_cast<int>(Mask) - 1; ++p, x += tile::pitch) {
    T pixel[Before + work::width];
    load<Before + work::width, false>(pixel, x);
#pragma unroll
    for (unsigned e = 0; e < work::width; ++e) w.pixel[e] = pixel[Before + e];
    w.template add<true>(mask, p);
  }
  const bool is_inside = lies_in(at.column, tile::columns, o.result.columns);
#pragma unroll
  for (int q = 0; q < work::rows; ++q) {
    const std::uint64_t i = at.row + down + q;
    if (i >= o.result.rows) return;
    store_results(o.y + i * o.result.columns, o.result.columns, at.column, is_inside, w.chain[q], stage);
  }
}

/// There are two boxes. Thread 0 requests the next box once all threads are done with the one before.
template <unsigned Mask, unsigned Before, class T>
__global__ void __launch_bounds__(group_size, box_groups_on_unit<Mask, T>)
    boxes(const operands<T> o, const __grid_constant__ CUtensorMap image) {
  if constexpr (!backend::cuda::has_pipeline) {
    __trap();
  } else {
    using tile = box_tile<Mask, Before, T>;
    __shared__ __align__(128) T box[2][tile::room];
    __shared__ __align__(16) T stage[group_rows][tile::columns];
    __shared__ backend::cuda::barrier is_there[2];
    const auto across = static_cast<unsigned>(tile::across(o)), tiles = static_cast<unsigned>(tile::tiles(o));
    const bool asks = threadIdx.x == 0 && threadIdx.y == 0;
    const auto ask_for = [&](unsigned t, unsigned to) {
      is_there[to].arrive_expecting(tile::bytes);
      is_there[to].copy_box(box[to], &image,
                            t % across * tile::columns - static_cast<unsigned>(o.left) - Before,  // may be negative
                            t / across * tile::rows - static_cast<unsigned>(o.above));
    };
    if (asks) {
      for (auto& barrier : is_there) barrier.open(1);
      if (blockIdx.x < tiles) ask_for(blockIdx.x, 0);
    }
    const kept_mask<Mask, T> mask(o.weights);
    __syncthreads();  // the barriers are open
    unsigned at = 0, parity = 0;
#pragma unroll 1
    for (unsigned t = blockIdx.x; t < tiles; t += gridDim.x) {
      if (asks && t + gridDim.x < tiles) ask_for(t + gridDim.x, at ^ 1);
      is_there[at].wait(parity);
      make_tile<Mask, Before>(o, mask,
                              {std::uint64_t{t / across} * tile::rows, std::uint64_t{t % across} * tile::columns},
                              box[at], stage[threadIdx.y]);
      parity ^= at;
      at ^= 1;
      __syncthreads();  // nobody needs this box any more
    }
  }
}

}  // namespace tilewise::impl::convolve
