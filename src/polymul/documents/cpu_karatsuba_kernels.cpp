// SPDX-License-Identifier: Apache-2.0
// What:   Karatsuba's recursion on one thread; the loops are vectorized by the compiler, once for each x86-64 level.
// Order:  none: exact modulo 2^64.
// Shape:  three products of half the length per level, in memory that the caller gives.
// Limits: both factors have the same length, a leaf's times a power of two.
// Twins:  serial.cpp.
#include "polymul/documents/cpu_karatsuba_kernels.hpp"

#include "polymul/cpu/naive_kernels.hpp"

namespace tilewise::impl::polymul::TILEWISE_LEVEL {

namespace {

using u64 = std::uint64_t;

void add(const u64* from, u64* to, u64 count) {
  for (u64 i = 0; i < count; ++i) to[i] += from[i];
}

void multiply(const u64* a, const u64* b, u64* c, u64 length, u64* scratch, const karatsuba_leaf& leaf) {
  if (length <= leaf.length) {
    u64* const b_between_zeros = leaf.between_zeros + naive_margin;
    __builtin_memcpy(b_between_zeros, b, length * sizeof(u64));
    __builtin_memset(b_between_zeros + length, 0, (leaf.length - length) * sizeof(u64));
    leaf.multiply(a, length, b_between_zeros, length, c, 0, 2 * length - 1);
    c[2 * length - 1] = 0;
    return;
  }
  const u64 half = length / 2;
  u64 *const a_sums = scratch, *const b_sums = scratch + half, *const middle = scratch + length;
  for (u64 i = 0; i < half; ++i) a_sums[i] = a[i] + a[half + i];
  for (u64 i = 0; i < half; ++i) b_sums[i] = b[i] + b[half + i];
  multiply(a, b, c, half, scratch + 2 * length, leaf);
  multiply(a + half, b + half, c + length, half, scratch + 2 * length, leaf);
  multiply(a_sums, b_sums, middle, half, scratch + 2 * length, leaf);
  for (u64 i = 0; i < length; ++i) middle[i] -= c[i] + c[length + i];
  add(middle, c + half, length);
}

void join(const u64* low, const u64* high, const u64* sums, u64* c, u64 length) {
  const u64 half = length / 2;
  __builtin_memcpy(c, low, length * sizeof(u64));
  __builtin_memcpy(c + length, high, length * sizeof(u64));
  for (u64 i = 0; i < length; ++i) c[half + i] += sums[i] - low[i] - high[i];
}

}  // namespace

const karatsuba_kernels& karatsuba() {
  static constexpr karatsuba_kernels all{multiply, join, add};
  return all;
}

}  // namespace tilewise::impl::polymul::TILEWISE_LEVEL
