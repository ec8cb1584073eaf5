// What:   arithmetic modulo a prime below 2^30 in words, and the butterflies of a number-theoretic transform.
// Order:  none: exact. A word holds any number of its class up to 4 p; bounds stand where values grow.
// Shape:  a thread takes 16 rows of a block through up to 4 levels in registers.
// Limits: p < 2^30.
// Twins:  polymul_ntt.cl.
#pragma once

#include "polymul/polymul_gpu_ntt.hpp"

#include <cstdint>

namespace tilewise::impl::polymul {

using word = std::uint32_t;

/// x / 2^32 modulo p, below x / 2^32 + p (P. L. Montgomery, Modular multiplication without trial division, 1985). Its
/// two long products also bring the upper half, and at full speed; the instruction for that half alone takes twice as
/// long.
__device__ inline word montgomery(std::uint64_t x, const word_field& f) {
  const word quotient = static_cast<word>(x) * f.minus_inverse;
  return static_cast<word>((x + std::uint64_t{quotient} * f.p) >> 32);
}

/// Below 2 p, for any y and a factor's form below p.
__device__ inline word times(word y, word form, const word_field& f) { return montgomery(std::uint64_t{y} * form, f); }

/// Below p where x is below 2 p; with 2 p for p, below 2 p where x is below 4 p.
__device__ inline word lower(word x, word p) { return __viaddmin_u32(x, 0 - p, x); }

inline constexpr unsigned rows = 16, log_rows = 4;

/// Of the levels of block `node` of a tile's tree, whose root is node 1, the last 4 - `done`. x enters and leaves with
/// less than 4 p.
__device__ __forceinline__ void forward_rows(word (&x)[rows], const word* roots, unsigned node, unsigned done,
                                             const word_field& f) {
#pragma unroll
  for (unsigned level = 0; level < log_rows; ++level) {
    if (level < done) continue;
    const unsigned half = rows >> (level + 1);
#pragma unroll
    for (unsigned pair = 0; pair < rows / 2; ++pair) {
      const unsigned block = pair / half, i = pair + block * half;
      const word u = lower(x[i], 2 * f.p), v = times(x[i + half], roots[(node << level) + block], f);
      x[i] = u + v;
      x[i + half] = u - v + 2 * f.p;
    }
  }
}

/// The same levels upwards. x enters and leaves with less than 2 p.
__device__ __forceinline__ void backward_rows(word (&x)[rows], const word* roots, unsigned node, unsigned done,
                                              const word_field& f) {
#pragma unroll
  for (unsigned up = 1; up <= log_rows; ++up) {
    const unsigned level = log_rows - up, half = 1u << (up - 1);
    if (level < done) continue;
#pragma unroll
    for (unsigned pair = 0; pair < rows / 2; ++pair) {
      const unsigned block = pair / half, i = pair + block * half;
      const word u = x[i], v = x[i + half];
      x[i] = lower(u + v, 2 * f.p);
      x[i + half] = times(u - v + 2 * f.p, roots[(node << level) + block], f);
    }
  }
}

// Two tables of Montgomery forms make all roots: r[k] is the product of r[k modulo 4096] and r[k - k modulo 4096].
inline constexpr unsigned log_table = log_most_roots / 2, table_size = 1u << log_table;

struct root_tables {
  const word *low, *high;

  __device__ root_tables(const word* all, unsigned field, unsigned backward)
      : low(all + (2 * field + backward) * 2 * table_size), high(low + table_size) {}

  __device__ word root(std::uint64_t k, const word_field& f) const {
    return lower(times(low[k % table_size], high[k >> log_table], f), f.p);
  }
};

/// The roots of the first levels below block `tile` of its level, as a tree in an array: node 1 is the block's own.
template <unsigned Nodes, unsigned Threads>
__device__ void load_roots(word* to, const root_tables& tables, std::uint64_t tile, const word_field& f) {
  for (unsigned node = threadIdx.x; node < Nodes; node += Threads) {
    if (node == 0) continue;
    const unsigned level = 31 - __clz(node);
    to[node] = tables.root((tile << level) + (node - (1u << level)), f);
  }
}

}  // namespace tilewise::impl::polymul
