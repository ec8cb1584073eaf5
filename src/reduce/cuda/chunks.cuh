// SPDX-License-Identifier: Apache-2.0
// What:   the block values of chunks, and of the rest after whole tiles, within a group; also for matvec and
//         reduce_axis.
// Order:  a chunk is an aligned block; the tiles' values are the elements of a higher level of the same tree.
// Shape:  a warp takes one chunk at a time, 8 rows of 16 bytes per lane.
// Limits: none.
// Twins:  order/block_stack.hpp.
#pragma once

#include "backend/cuda/warp.cuh"
#include "base/ceil_div.hpp"

#include <bit>

namespace tilewise::impl::reduce {

using namespace backend::cuda;

inline constexpr unsigned rows = 8;          // loads in flight: 1024 lanes with 8 of 16 bytes request 128 KiB at once
inline constexpr unsigned digit_count = 64;  // of n

template <class T>
inline constexpr unsigned chunk_length = rows* row_length<T>;
template <class T>
inline constexpr unsigned chunk_level = std::bit_width(chunk_length<T>) - 1;

/// The block value of a chunk's rows, in every lane of the warp.
template <class Op, class T>
__device__ T chunk_tree(const pack<T> (&loaded)[rows]) {
  T row[rows];
#pragma unroll
  for (unsigned r = 0; r < rows; ++r) row[r] = tree_of<Op, pack_length<T>>(loaded[r].at);
  return warp_tree<Op, rows>(rows_tree<Op, rows>(row));
}

/// The block value of a chunk that cannot be loaded in packs: a warp loads 32 single elements side by side.
template <class Op, class T, class Element>
__device__ T chunk_of_elements(const Element& element) {
  constexpr unsigned loads = chunk_length<T> / warp_size;
  T value[loads];
#pragma unroll
  for (unsigned r = 0; r < loads; ++r) value[r] = element(r * warp_size + threadIdx.x % warp_size);
  return warp_tree<Op, loads>(rows_tree<Op, loads>(value));
}

/// The block value of x[0..length) (one chunk, a shorter power of two, or nothing) in every lane of the warp.
template <class Op, class T>
__device__ T chunk_value(const T* x, std::uint64_t length, bool packable) {
  if (!packable && length == chunk_length<T>)
    return chunk_of_elements<Op, T>([&](unsigned i) { return __ldcg(x + i); });
  const unsigned first = threadIdx.x % warp_size * pack_length<T>;
  pack<T> loaded[rows];
  if (packable && length == chunk_length<T>) {
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) loaded[r] = load_pack(x + r * row_length<T> + first);
  } else {
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) loaded[r] = load_pack_part<Op>(x, r * row_length<T> + first, length);
  }
  return chunk_tree<Op>(loaded);
}

/// How many elements the values of `tiles` tiles need, with those that fold_tiles writes after them: each of its rounds
/// leaves a thousandth or less, and begins at a pack. The result is a whole number of packs.
inline std::uint64_t tile_value_room(std::uint64_t tiles) { return (tiles + tiles / 256 + digit_count + 3) / 4 * 4; }

/// Folds up to 32 values of blocks of 2^level elements to the block values of the digits of their number; by one group.
template <class Op, class T>
__device__ void fold_few(unsigned count, unsigned level, const T* value, T* digit) {
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, warps = blockDim.x / warp_size;
  for (unsigned bit = warp; count >> bit != 0; bit += warps) {
    if ((count >> bit & 1) == 0) continue;
    const unsigned first = (count >> bit << bit) - (1u << bit);
    const T folded = warp_tree<Op>(lane < 1u << bit ? value[first + lane] : Op::template identity<T>());
    if (lane == 0) digit[level + bit] = folded;
  }
}

/// Folds the values of tiles of 2^level elements to the block values of the digits of n from `level` up; by one group.
/// Each round reduces whole chunks of values to one value each, stored after them, and folds the rest by the digits of
/// its number. The few chunks of the last round stay in shared memory, which saves a round trip to memory.
template <class Op, class T>
__device__ void fold_tiles(std::uint64_t n, unsigned level, T* value, T* digit) {
  __shared__ T of_chunk[warp_size];
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, warps = blockDim.x / warp_size;
  std::uint64_t count = n >> level;
  for (bool few = false; !few; count >>= chunk_level<T>, level += chunk_level<T>) {
    const std::uint64_t chunks = count >> chunk_level<T>;
    few = chunks <= warp_size;
    T* const behind = value + ceil_div(count, pack_length<T>) * pack_length<T>;
    T* const next = few ? of_chunk : behind;
    for (std::uint64_t chunk = warp; chunk < chunks; chunk += warps) {
      const T folded = chunk_value<Op>(value + chunk * chunk_length<T>, chunk_length<T>, true);
      if (lane == 0) next[chunk] = folded;
    }
    unsigned turn = 0;
    for (unsigned bit = 0; bit < chunk_level<T>; ++bit) {
      if ((count >> bit & 1) == 0 || turn++ % warps != warp) continue;
      const T folded = chunk_value<Op>(value + (count >> bit << bit) - (1ull << bit), 1ull << bit, false);
      if (lane == 0) digit[level + bit] = folded;
    }
    __syncthreads();
    value = next;
  }
  fold_few<Op>(static_cast<unsigned>(count), level, of_chunk, digit);
}

/// P(n) from the block values of the digits of n.
template <class Op, class T>
__device__ T fold_digits(std::uint64_t n, const T* digit) {
  T prefix = Op::template identity<T>();
  for (std::uint64_t rest = n; rest != 0;) {
    const unsigned level = 63 - __clzll(rest);
    prefix = Op::template apply<T>(prefix, digit[level]);
    rest ^= 1ull << level;
  }
  return prefix;
}

}  // namespace tilewise::impl::reduce
