// SPDX-License-Identifier: Apache-2.0
// What:   rows of a number-theoretic transform: levels down, the products of leaves, and levels up.
// Order:  none: exact.
// Shape:  a group takes a tile of 16 2^LogNear rows of 16 neighbours of both factors through 5 + LogNear levels.
// Limits: 43 KB of shared memory, 86 KB for the larger tile.
// Twins:  opencl/ntt.cl.
#pragma once

#include "polymul/cuda/ntt.cuh"

namespace tilewise::impl::polymul {

inline constexpr unsigned leaf = 1u << log_leaf, lanes = group_size / rows;
static_assert(rows == 2 * leaf && lanes == rows);

/// A tile of 16 blocks of 2^LogNear rows of 16 words, with one word of padding after each row. The threads divide it in
/// three ways in turn, so that the levels computed in each way stay within a thread: a thread has the same word of all
/// blocks, the same word of the rows of a block, or neighbouring words.
template <unsigned LogNear>
struct row_memory {
  static constexpr unsigned held = 1u << LogNear, parts = held / rows, nodes = 2 * parts * group_size;
  static constexpr unsigned pitch = padded_rows * held;  // of blocks

  word_factor down[nodes], up[nodes];
  word tile[2][rows * pitch];

  static __device__ unsigned block() { return threadIdx.x / lanes; }
  static __device__ unsigned far(unsigned part, unsigned i) {
    return threadIdx.x + block() + part * padded_rows * rows + i * pitch;
  }
  static __device__ unsigned near(unsigned i) { return block() * pitch + threadIdx.x % lanes + i * padded_rows; }
  static __device__ unsigned next(unsigned part, unsigned i) {
    return (threadIdx.x + part * group_size) * padded_rows + i;
  }
};

/// Computes a = a b / 2^32 modulo x^8 - root. `form` is the root's Montgomery form. Values are below p before and below
/// 2 p after.
__device__ __forceinline__ void multiply_leaves(word* a, const word* b, word form, const word_field& f) {
  word product[leaf];
#pragma unroll
  for (unsigned k = 0; k < leaf; ++k) {
    std::uint64_t over = 0, sum = 0;
#pragma unroll
    for (unsigned i = k + 1; i < leaf; ++i) over += std::uint64_t{a[i]} * b[leaf + k - i];
#pragma unroll
    for (unsigned i = 0; i <= k; ++i) sum += std::uint64_t{a[i]} * b[k - i];
    if (k + 1 < leaf) sum += std::uint64_t{form} * montgomery(over, f);  // at most 10.6 p^2 in all
    product[k] = lower(montgomery(sum, f), f.twice);
  }
#pragma unroll
  for (unsigned k = 0; k < leaf; ++k) a[k] = product[k];
}

/// Takes 16 neighbours through the level above the leaves, and reduces them to below p.
__device__ __forceinline__ void load_leaves(word (&x)[rows], const word* from, const word_factor& root,
                                            const word_field& f) {
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) x[i] = from[i];
#pragma unroll
  for (unsigned i = 0; i < leaf; ++i) {
    const word u = lower(x[i], f.twice), v = times(x[i + leaf], root, f.p);
    x[i] = lower(lower(u + v, f.twice), f.p);
    x[i + leaf] = lower(lower(u - v + f.twice, f.twice), f.p);
  }
}

/// Multiplies 16 neighbours of both factors: down the level above the leaves, the products of leaves, and back up.
__device__ __forceinline__ void multiply_neighbours(word* a_words, const word* b_words, const word_factor& down,
                                                    const word_factor& up, const word_field& f) {
  word a[rows], b[rows];
  load_leaves(a, a_words, down, f);
  load_leaves(b, b_words, down, f);
  const word form = form_of_factor(down, f.p);
  multiply_leaves(a, b, form, f);
  multiply_leaves(a + leaf, b + leaf, f.p - form, f);
#pragma unroll
  for (unsigned i = 0; i < leaf; ++i) {
    const word u = a[i], v = a[i + leaf];
    a_words[i] = lower(u + v, f.twice);
    a_words[i + leaf] = times(u - v + f.twice, up, f.p);
  }
}

/// The first levels of a tile, if columns compute them, before and after the rows.
struct levels_elsewhere {
  unsigned down, up;
};

/// Group (tile, field). The first tile is tile `first_tile` of its level.
template <unsigned LogNear>
__global__ void __launch_bounds__(group_size, LogNear == log_rows ? 4 : 2)
    multiply_rows(const __grid_constant__ ntt_work work, levels_elsewhere done, unsigned first_tile) {
  using memory = row_memory<LogNear>;
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& here = *reinterpret_cast<memory*>(bytes);
  constexpr unsigned parts = memory::parts, held = memory::held, stride = held * lanes;
  const auto later = [](unsigned levels) { return levels < log_rows ? 0 : levels - log_rows; };
  if (work.is_idle(blockIdx.y)) return;
  const unsigned k = blockIdx.y, root_tile = first_tile + blockIdx.x;
  const word_field& f = work.fields.at[k];
  const unsigned first = blockIdx.x * rows * stride + threadIdx.x;
  word* const values = work.residues(0, k) + first;
  word x[2 * parts][1][rows], y[1][held];
#pragma unroll
  for (unsigned part = 0; part < 2 * parts; ++part)
#pragma unroll
    for (unsigned i = 0; i < rows; ++i)
      x[part][0][i] = work.residues(part / parts, k)[first + part % parts * group_size + i * stride];
  load_roots<memory::nodes>(here.down, work, k, 0, root_tile);
  load_roots<memory::nodes>(here.up, work, k, 1, root_tile);
  __syncthreads();  // the roots are loaded
#pragma unroll
  for (unsigned part = 0; part < 2 * parts; ++part) {
    forward_rows<log_rows>(x[part], here.down, 1, done.down, f);
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) here.tile[part / parts][memory::far(part % parts, i)] = x[part][0][i];
  }
  __syncthreads();  // the first levels are done
  for (word* const tile : here.tile) {
#pragma unroll
    for (unsigned i = 0; i < held; ++i) y[0][i] = tile[memory::near(i)];
    forward_rows<LogNear>(y, here.down, rows + memory::block(), later(done.down), f);
#pragma unroll
    for (unsigned i = 0; i < held; ++i) tile[memory::near(i)] = y[0][i];
  }
  __syncthreads();  // blocks of 16 are left
  for (unsigned part = 0; part < parts; ++part) {
    const unsigned node = (parts + part) * group_size + threadIdx.x, at = memory::next(part, 0);
    multiply_neighbours(here.tile[0] + at, here.tile[1] + at, here.down[node], here.up[node], f);
  }
  __syncthreads();  // they are multiplied
#pragma unroll
  for (unsigned i = 0; i < held; ++i) y[0][i] = here.tile[0][memory::near(i)];
  backward_rows<LogNear>(y, here.up, rows + memory::block(), later(done.up), f);
#pragma unroll
  for (unsigned i = 0; i < held; ++i) here.tile[0][memory::near(i)] = y[0][i];
  __syncthreads();  // the first levels are left
#pragma unroll
  for (unsigned part = 0; part < parts; ++part) {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) x[part][0][i] = here.tile[0][memory::far(part, i)];
    backward_rows<log_rows>(x[part], here.up, 1, done.up, f);
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) values[part * group_size + i * stride] = x[part][0][i];
  }
}

}  // namespace tilewise::impl::polymul
