// SPDX-License-Identifier: Apache-2.0
// What:   values of blocks within a thread and within a warp, and 16-byte access to memory.
// Order:  every function computes nodes of the pairwise tree: neighbours first. Butterflies compute b+a where the order
//         has a+b; that gives the same bits except for NaNs, which are made canonical at the end.
// Shape:  a pack is 16 bytes of one thread; a row is 32 packs, one per lane; all 32 lanes call together.
// Limits: packs need addresses that are multiples of 16; is_packable checks.
// Twins:  order/block_stack.hpp.
#pragma once

#include "order/operators.hpp"

#include <cuda_runtime.h>

#include <cstdint>

namespace tilewise::backend::cuda {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

/// The elements in a thread's widest load or store.
template <class T>
inline constexpr unsigned pack_length = 16 / sizeof(T);
template <class T>
inline constexpr unsigned row_length = warp_size* pack_length<T>;

template <class T>
struct alignas(16) pack {
  T at[pack_length<T>];
};

inline bool is_packable(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % 16 == 0; }

/// Loads past the first-level cache: streamed data is not used again, and data that other groups write in this launch
/// is never stale.
template <class T>
__device__ pack<T> load_pack(const T* from) {
  return __builtin_bit_cast(pack<T>, __ldcg(reinterpret_cast<const uint4*>(from)));
}

/// Loads through the first-level cache: for data that no group of this launch writes and that other threads also read.
template <class T>
__device__ __forceinline__ pack<T> load_pack_cached(const T* from) {
  return __builtin_bit_cast(pack<T>, __ldg(reinterpret_cast<const uint4*>(from)));
}

template <class T>
__device__ void store_pack(T* to, const pack<T>& values) {
  *reinterpret_cast<uint4*>(to) = __builtin_bit_cast(uint4, values);
}

/// A pack of consecutive values in registers.
template <class T>
__device__ __forceinline__ pack<T> pack_of(const T* values) {
  pack<T> result;
#pragma unroll
  for (unsigned i = 0; i < pack_length<T>; ++i) result.at[i] = values[i];
  return result;
}

/// The pack at x[first], with the identity in place of elements from x[end] on. It may have any alignment.
template <class Op, class T>
__device__ pack<T> load_pack_part(const T* x, std::uint64_t first, std::uint64_t end) {
  pack<T> values;
#pragma unroll
  for (unsigned i = 0; i < pack_length<T>; ++i)
    values.at[i] = first + i < end ? __ldcg(x + first + i) : Op::template identity<T>();
  return values;
}

/// The calling thread's warp number. Computed with a shuffle, so that the compiler knows that it is the same in all
/// lanes.
__device__ __forceinline__ unsigned warp_of_group() { return __shfl_sync(all_lanes, threadIdx.x / warp_size, 0); }

/// The block value of `Length` neighbours, a power of two.
template <class Op, unsigned Length, class T>
__device__ T tree_of(const T* x) {
  if constexpr (Length == 1)
    return x[0];
  else
    return Op::template apply<T>(tree_of<Op, Length / 2>(x), tree_of<Op, Length / 2>(x + Length / 2));
}

/// The block value of one value per lane, for each group of `Width` lanes, in each of its lanes.
template <class Op, unsigned Width = warp_size, class T>
__device__ T warp_tree(T value) {
#pragma unroll
  for (unsigned distance = 1; distance < Width; distance *= 2)
    value = Op::template apply<T>(value, __shfl_xor_sync(all_lanes, value, distance));
  return value;
}

/// The block values of `Rows` rows, a power of two up to 32: row[r] is the lane's value in row r, and lane l receives
/// the value of row l % Rows. Each step halves the rows that a lane holds, so it takes Rows - 1 + log2(32 / Rows)
/// shuffles instead of 5 * Rows with one butterfly per row. Overwrites `row`.
template <class Op, unsigned Rows, class T>
__device__ T rows_tree(T (&row)[Rows]) {
  const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
  for (unsigned distance = 1; distance < warp_size; distance *= 2) {
    if (distance < Rows) {
      const bool upper = (lane & distance) != 0;
#pragma unroll
      for (unsigned r = 0; r < Rows; r += 2 * distance) {
        const T kept = upper ? row[r + distance] : row[r];
        const T sent = upper ? row[r] : row[r + distance];
        row[r] = Op::template apply<T>(kept, __shfl_xor_sync(all_lanes, sent, distance));
      }
    } else {
      row[0] = Op::template apply<T>(row[0], __shfl_xor_sync(all_lanes, row[0], distance));
    }
  }
  return row[0];
}

}  // namespace tilewise::backend::cuda
