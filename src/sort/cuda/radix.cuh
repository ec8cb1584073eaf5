// SPDX-License-Identifier: Apache-2.0
// What:   stable ranks of keys by one digit, within a warp and within a group.
// Order:  equal digits keep their order: lanes within a row of 32 keys, rows within a warp, warps within a group.
// Shape:  a warp's keys lie in rows, one key per lane; lanes with the same digit find each other by a vote on each bit,
//         and the lowest of them counts for all.
// Limits: fewer than 2^32 keys per group.
// Twins:  opencl/onesweep.cl.
#pragma once

#include "backend/cuda/warp.cuh"
#include "base/ceil_div.hpp"
#include "sort/cuda/elements.cuh"

namespace tilewise::impl::sort::on_cuda {

inline constexpr unsigned digit_bits = 8;  // 2^8 counters per warp still fit beside large tiles
inline constexpr unsigned digit_values = 1u << digit_bits;
template <class Bits>
inline constexpr unsigned digits = 8 * sizeof(Bits) / digit_bits;

/// `shift` is a multiple of digit_bits. Picking a byte takes one instruction, where a shift and a mask take two.
template <class Bits>
__device__ unsigned digit_of(Bits code, unsigned shift) {
  static_assert(digit_bits == 8);
  if constexpr (sizeof(Bits) == 8)
    return digit_of(static_cast<std::uint32_t>(shift < 32 ? code : code >> 32), shift % 32);
  return __byte_perm(static_cast<std::uint32_t>(code), 0, 0x4440 + shift / digit_bits);
}

/// -1, but hidden from the compiler. So a vote is complemented by a multiplication, which does not use the logic units:
/// these are the busiest.
static __constant__ unsigned minus_one = ~0u;

__device__ inline unsigned and_of(unsigned a, unsigned b, unsigned c) {
  asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(a) : "r"(a), "r"(b), "r"(c));
  return a;
}

/// The lanes with this lane's digit. The same votes without PTX made a sort of 2^26 keys of 32 bits take 1.75 ms on an
/// H200, and __match_any_sync 2.66, where it took 1.25 with these.
__device__ inline unsigned lanes_with(unsigned digit) {
  unsigned alike[digit_bits];
#pragma unroll
  for (unsigned bit = 0; bit < digit_bits; ++bit)
    asm volatile(
        "{ .reg .pred set; and.b32 %0, %1, %2; setp.ne.u32 set, %0, 0; vote.sync.ballot.b32 %0, set, %3;"
        " @!set mad.lo.u32 %0, %0, %4, %4; }"
        : "=&r"(alike[bit])
        : "r"(digit), "r"(1u << bit), "r"(all_lanes), "r"(minus_one));
  return and_of(and_of(alike[0], alike[1], alike[2]), and_of(alike[3], alike[4], alike[5]), alike[6] & alike[7]);
}

/// Sorts elements [begin, end) by insertion, with one thread; equal codes keep their order. key_at(i) and value_at(i)
/// are references to element i.
template <class Value, class Index, class KeyAt, class ValueAt, class CodeOf>
__device__ __forceinline__ void insert_in_order(Index begin, Index end, const KeyAt& key_at, const ValueAt& value_at,
                                                const CodeOf& code_of) {
  for (Index j = begin + 1; j < end; ++j) {
    const auto key = key_at(j), code = code_of(key);
    Value value;
    if constexpr (moves<Value>) value = value_at(j);
    Index hole = j;
    for (; hole > begin && code_of(key_at(hole - 1)) > code; --hole) {
      key_at(hole) = key_at(hole - 1);
      if constexpr (moves<Value>) value_at(hole) = value_at(hole - 1);
    }
    key_at(hole) = key;
    if constexpr (moves<Value>) value_at(hole) = value;
  }
}

/// Calls put(r, place) with the place of row r's key, where next[digit] is that of the warp's first key with the digit.
/// `next` belongs to the warp and moves on past its keys.
template <class Bits, unsigned Rows, class Put>
__device__ __forceinline__ void place_in_warp(const Bits (&key)[Rows], unsigned shift, unsigned* next, const Put& put) {
  const unsigned before_me = (1u << threadIdx.x % warp_size) - 1;
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    const unsigned digit = digit_of(key[r], shift), peers = lanes_with(digit), earlier = next[digit];
    __syncwarp();  // all lanes have read
    if ((peers & before_me) == 0) next[digit] = earlier + __popc(peers);
    __syncwarp();  // the next row reads what was written
    put(r, earlier + __popc(peers & before_me));
  }
}

/// The memory of sum_before: one sum per warp, in sets of warps that have a digit each.
template <class T, unsigned Warps>
using warp_sums = T[ceil_div(Warps, digit_values / warp_size)][digit_values / warp_size];

/// The sum of `value` over the earlier threads of the same digit_values. Called by the whole group.
template <class T>
__device__ T sum_before(T value, T (*sums)[digit_values / warp_size]) {
  constexpr unsigned set = digit_values / warp_size;
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  T up_to = value;
#pragma unroll
  for (unsigned distance = 1; distance < warp_size; distance *= 2) {
    const T left = __shfl_up_sync(all_lanes, up_to, distance);
    if (lane >= distance) up_to += left;
  }
  if (lane == warp_size - 1) sums[warp / set][warp % set] = up_to;
  __syncthreads();  // the warps' sums are stored
  T before = up_to - value;
  for (unsigned w = 0; w < set; ++w)
    if (w < warp % set) before += sums[warp / set][w];
  return before;
}

template <unsigned Warps>
__device__ unsigned sum_of_warps(const unsigned (&counts)[Warps][digit_values], unsigned digit) {
  unsigned sum = 0;
#pragma unroll
  for (unsigned w = 0; w < Warps; ++w) sum += counts[w][digit];
  return sum;
}

/// Replaces each warp's count of a digit by the place of its first key, where the first warp's is `place`; returns the
/// place after the last warp's.
template <unsigned Warps>
__device__ unsigned to_places(unsigned (&counts)[Warps][digit_values], unsigned digit, unsigned place) {
#pragma unroll
  for (unsigned w = 0; w < Warps; ++w) {
    const unsigned count = counts[w][digit];
    counts[w][digit] = place;
    place += count;
  }
  return place;
}

}  // namespace tilewise::impl::sort::on_cuda
