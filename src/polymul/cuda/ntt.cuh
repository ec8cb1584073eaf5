// SPDX-License-Identifier: Apache-2.0
// What:   arithmetic modulo a prime below 2^30 in 32-bit words, and the butterflies of a number-theoretic transform.
// Order:  none: exact. A word holds any number of its residue class up to 4 p; bounds are noted where values grow.
// Shape:  a thread takes 16 rows of one column or two of a block through up to 4 levels in registers.
// Limits: p < 2^30.
// Twins:  opencl/ntt.cl.
#pragma once

#include "polymul/gpu_ntt.hpp"

#include <cstdint>

namespace tilewise::impl::polymul {

using word = std::uint32_t;

inline constexpr unsigned group_size = 256, rows = 16, log_rows = 4;  // rows that a thread holds
inline constexpr unsigned padded_rows = rows + 1, table_size = 1u << log_table;

/// The upper half of a product. It is written as a long product, since the instruction for the upper half alone has
/// only half the throughput.
__device__ inline word upper(word a, word b) {
  word high;
  asm("{ .reg .u64 both; .reg .u32 low; mul.wide.u32 both, %1, %2; mov.b64 {low, %0}, both; }"
      : "=r"(high)
      : "r"(a), "r"(b));
  return high;
}

/// The product y * by modulo p, below 2 p, for any y (V. Shoup's multiplication; D. Harvey, Faster arithmetic for
/// number-theoretic transforms, 2014).
__device__ inline word times(word y, const word_factor& by, word p) { return y * by.value - upper(y, by.quotient) * p; }

/// Reduces x < 2 p to below p. With 2 p passed as p, reduces x < 4 p to below 2 p.
__device__ inline word lower(word x, word p) { return min(x, x - p); }

/// x / 2^32 modulo p, below x / 2^32 + p (P. L. Montgomery, Modular multiplication without trial division, 1985).
__device__ inline word montgomery(std::uint64_t x, const word_field& f) {
  return static_cast<word>(x >> 32) - upper(static_cast<word>(x) * f.inverse, f.p) + f.p;
}

/// The factor of a root from its Montgomery form. This form is the remainder of root * 2^32 divided by p, so the
/// quotient is computed exactly.
__device__ inline word_factor factor_of_form(word form, const word_field& f) {
  return {lower(montgomery(form, f), f.p), 0 - form * f.inverse};
}
__device__ inline word form_of_factor(const word_factor& root, word p) { return 0 - root.quotient * p; }

/// Takes 2^Log rows down through the levels after the first `done`, in each of `Columns` columns. `node` is the block
/// in the tile's tree, whose root is node 1. x is below 4 p before and after.
template <unsigned Log, unsigned Columns>
__device__ __forceinline__ void forward_rows(word (&x)[Columns][1u << Log], const word_factor* roots, unsigned node,
                                             unsigned done, const word_field& f) {
#pragma unroll
  for (unsigned level = 0; level < Log; ++level) {
    if (level < done) continue;
    const unsigned half = 1u << (Log - level - 1);
#pragma unroll
    for (unsigned pair = 0; pair < 1u << (Log - 1); ++pair) {
      const unsigned block = pair / half, i = pair + block * half;
      const word_factor root = roots[(node << level) + block];
#pragma unroll
      for (word(&column)[1u << Log] : x) {
        const word u = lower(column[i], f.twice), v = times(column[i + half], root, f.p);
        column[i] = u + v;
        column[i + half] = u - v + f.twice;
      }
    }
  }
}

/// The same levels upwards. x is below 2 p before and after.
template <unsigned Log, unsigned Columns>
__device__ __forceinline__ void backward_rows(word (&x)[Columns][1u << Log], const word_factor* roots, unsigned node,
                                              unsigned done, const word_field& f) {
#pragma unroll
  for (unsigned up = 1; up <= Log; ++up) {
    const unsigned level = Log - up, half = 1u << (up - 1);
    if (level < done) continue;
#pragma unroll
    for (unsigned pair = 0; pair < 1u << (Log - 1); ++pair) {
      const unsigned block = pair / half, i = pair + block * half;
      const word_factor root = roots[(node << level) + block];
#pragma unroll
      for (word(&column)[1u << Log] : x) {
        const word u = column[i], v = column[i + half];
        column[i] = lower(u + v, f.twice);
        column[i + half] = times(u - v + f.twice, root, f.p);
      }
    }
  }
}

/// The largest magnitudes of both factors, computed on the device. If they are small, two fields hold the product, and
/// the groups of the other fields end at once.
struct ntt_magnitudes {
  unsigned long long* largest;  // the largest magnitude of each factor; null if it is not needed
  std::uint64_t most;           // two fields are enough if the product of both is at most this

  __device__ bool are_small() const {
    if (largest == nullptr) return false;
    const unsigned long long a = largest[0], b = largest[1];
    return __umul64hi(a, b) == 0 && a * b <= most;
  }
};

/// The operands of all kernels of a product.
struct ntt_work {
  word_fields fields;
  unsigned log, used;  // 2^log points, the number of fields used
  const word* tables;  // Montgomery forms, for each field forward and backward: r[k] and r[4096 k], k < 4096
  word* data;          // the residues of the first factor for each field, then those of the second
  ntt_magnitudes magnitudes{};

  /// Whether the product does not need a field.
  __device__ bool is_idle(unsigned field) const { return field >= least_words && magnitudes.are_small(); }

  __device__ unsigned points() const { return 1u << log; }
  __device__ word* residues(unsigned factor, unsigned field) const {
    return data + (std::uint64_t{factor * used + field} << log);
  }
  __device__ word_factor root(unsigned field, unsigned backward, unsigned k) const {
    const word* low = tables + (2 * field + backward) * 2 * table_size;
    const word_field& f = fields.at[field];
    const std::uint64_t both = std::uint64_t{low[k % table_size]} * low[table_size + (k >> log_table)];
    return factor_of_form(lower(montgomery(both, f), f.p), f);
  }
};

/// The roots of the first levels below block `tile` of its level, as a tree in an array: node 1 is the block's own.
template <unsigned Nodes>
__device__ void load_roots(word_factor* to, const ntt_work& work, unsigned field, unsigned backward, unsigned tile) {
  for (unsigned node = threadIdx.x; node < Nodes; node += group_size) {
    if (node == 0) continue;
    const unsigned level = 31 - __clz(node);
    to[node] = work.root(field, backward, (tile << level) + (node - (1u << level)));
  }
}

}  // namespace tilewise::impl::polymul
