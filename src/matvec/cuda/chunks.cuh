// SPDX-License-Identifier: Apache-2.0
// What:   the block values of the products of a row and x, for a pack, a chunk, and a block of up to 32 chunks.
// Order:  a product is rounded; a chunk is an aligned block.
// Shape:  loads of 16 bytes per lane, 8 in flight. Where A's row or x is not aligned to 16 bytes, a lane loads single
//         elements, so that a warp still reads one piece of memory at a time.
// Limits: none.
// Twins:  opencl/program.cl.
#pragma once

#include "reduce/cuda/chunks.cuh"

namespace tilewise::impl::matvec {

using namespace backend::cuda;
using order::product;
using order::sum;
using reduce::chunk_length;
using reduce::chunk_level;
inline constexpr unsigned in_flight = reduce::rows;

/// Loads a pack of A past the first-level cache, since it is not needed again. On an H200, 8192 rows of 8192 doubles
/// took 129 us this way and 136 us with load_pack.
template <class T>
__device__ pack<T> load_once(const T* from) {
  uint4 loaded;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(loaded.x), "=r"(loaded.y), "=r"(loaded.z), "=r"(loaded.w)
               : "l"(from));
  return __builtin_bit_cast(pack<T>, loaded);
}

/// The same for one element.
template <class T>
__device__ T load_one_once(const T* from) {
  if constexpr (sizeof(T) == 8) {
    std::uint64_t loaded;
    asm volatile("ld.global.nc.L1::no_allocate.u64 %0, [%1];" : "=l"(loaded) : "l"(from));
    return __builtin_bit_cast(T, loaded);
  } else {
    unsigned loaded;
    asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(loaded) : "l"(from));
    return __builtin_bit_cast(T, loaded);
  }
}

/// The products of the pack at `first`; missing ones, from `end` on, are the identity.
template <class T>
__device__ pack<T> products_at(const T* a, const T* x, std::uint64_t first, std::uint64_t end, bool packable) {
  pack<T> result;
  if (packable && first + pack_length<T> <= end) {
    result = load_pack(a + first);
    const pack<T> with = *reinterpret_cast<const pack<T>*>(x + first);
#pragma unroll
    for (unsigned i = 0; i < pack_length<T>; ++i) result.at[i] = product::apply<T>(result.at[i], with.at[i]);
  } else {
#pragma unroll
    for (unsigned i = 0; i < pack_length<T>; ++i)
      result.at[i] = first + i < end ? product::apply<T>(a[first + i], x[first + i]) : sum::identity<T>();
  }
  return result;
}

/// The block value of a chunk of products, in every lane of the warp.
template <class T>
__device__ T whole_chunk(const T* a, const T* x, bool packable) {
  const unsigned lane = threadIdx.x % warp_size;
  if (packable) {
    pack<T> loaded[in_flight];
#pragma unroll
    for (unsigned r = 0; r < in_flight; ++r) loaded[r] = load_once(a + r * row_length<T> + lane * pack_length<T>);
#pragma unroll
    for (unsigned r = 0; r < in_flight; ++r) {
      const pack<T> with = *reinterpret_cast<const pack<T>*>(x + r * row_length<T> + lane * pack_length<T>);
#pragma unroll
      for (unsigned i = 0; i < pack_length<T>; ++i) loaded[r].at[i] = product::apply<T>(loaded[r].at[i], with.at[i]);
    }
    return reduce::chunk_tree<sum>(loaded);
  }
  return reduce::chunk_of_elements<sum, T>([&](unsigned i) { return product::apply<T>(load_one_once(a + i), x[i]); });
}

/// The block value of 2^level products, a chunk or less, in every lane of the warp.
template <class T>
__device__ T chunk_of_products(const T* a, const T* x, unsigned level, bool packable) {
  if (level == chunk_level<T>) return whole_chunk(a, x, packable);
  const unsigned first = threadIdx.x % warp_size * pack_length<T>;
  pack<T> loaded[in_flight];
#pragma unroll
  for (unsigned r = 0; r < in_flight; ++r)
    loaded[r] = products_at(a, x, r * row_length<T> + first, 1ull << level, packable);
  return reduce::chunk_tree<sum>(loaded);
}

/// The block value of 2^level products, at most 32 chunks, in every lane of the warp.
template <class T>
__device__ T block_of_products(const T* a, const T* x, unsigned level, bool packable) {
  if (level <= chunk_level<T>) return chunk_of_products(a, x, level, packable);
  const unsigned chunks = 1u << (level - chunk_level<T>);
  T mine = sum::identity<T>();
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const T value = chunk_of_products(a, x, chunk_level<T>, packable);
    if (threadIdx.x % warp_size == chunk) mine = value;
    a += chunk_length<T>;
    x += chunk_length<T>;
  }
  return warp_tree<sum>(mine);
}

}  // namespace tilewise::impl::matvec
