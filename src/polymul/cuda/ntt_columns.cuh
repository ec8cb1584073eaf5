// SPDX-License-Identifier: Apache-2.0
// What:   columns of a number-theoretic transform. First pass: coefficients to residues, and levels down. Middle
//         passes: levels down or up. Last pass: levels up, and residues to coefficients.
// Order:  none: exact.
// Shape:  a group takes 16 or 32 columns of 256 rows, a stride apart, through 8 levels. A thread takes 16 rows of one
//         or two columns through 4 levels; after an exchange in shared memory it takes 16 neighbouring rows through 4
//         more.
// Limits: none.
// Twins:  opencl/ntt.cl.
#pragma once

#include "polymul/cuda/ntt.cuh"
#include "polymul/cuda/shared.cuh"

namespace tilewise::impl::polymul {

inline constexpr unsigned column_nodes = 1u << log_column_levels, tile_points = 1u << log_tile;

/// How a group divides `Width` neighbouring columns of 256 rows: each thread has 16 rows of `Held` columns.
template <unsigned Held, unsigned Width>
struct column_shape {
  static constexpr unsigned held = Held, width = Width, across = Width / Held, threads = across * rows;
  static constexpr unsigned points = column_nodes * Width;
  using words = word[Held][rows];

  /// 16 rows more of padding per 256 keep the rows that are read at once in different banks.
  struct memory {
    word_factor roots[column_nodes];
    alignas(Held * sizeof(word)) word tile[rows * padded_rows * Width];
  };

  // Row i of the columns; its words are read and written at once.
  struct alignas(Held * sizeof(word)) neighbours {
    word of[Held];
  };
  static __device__ __forceinline__ void load(words& x, unsigned i, const word* from) {
    const auto read = *reinterpret_cast<const neighbours*>(from);
#pragma unroll
    for (unsigned c = 0; c < Held; ++c) x[c][i] = read.of[c];
  }
  static __device__ __forceinline__ void store(const words& x, unsigned i, word* to) {
    neighbours written;
#pragma unroll
    for (unsigned c = 0; c < Held; ++c) written.of[c] = x[c][i];
    *reinterpret_cast<neighbours*>(to) = written;
  }
};

/// For few points: each thread has as few as possible.
using narrow_columns = column_shape<1, 16>;
/// For many points: a root and an address serve two columns, and the words of a row are a whole cache line. On an H200,
/// the second columns of 2^25 points took 0.39 ms instead of 0.45; whole lines with one column per thread took 0.49.
using wide_columns = column_shape<2, 32>;
static_assert(narrow_columns::points == tile_points && narrow_columns::threads == group_size &&
              wide_columns::threads == group_size);
using column_memory = narrow_columns::memory;

/// Where a group's tile lies: its columns of block `block` of the level whose blocks have 256 rows of `stride`.
template <class Shape>
struct column_tile {
  unsigned block, column, row;  // the last two of this thread: row + 16 i before the exchange, 16 row + i after it
  unsigned stride, first;

  __device__ column_tile(unsigned tile, unsigned row_stride)
      : block(tile / (row_stride / Shape::width)),
        column(threadIdx.x % Shape::across * Shape::held),
        row(threadIdx.x / Shape::across),
        stride(row_stride),
        first(block * column_nodes * row_stride + tile % (row_stride / Shape::width) * Shape::width + column) {}
  __device__ std::uint64_t early(unsigned i) const { return first + row * stride + std::uint64_t{rows * stride} * i; }
  __device__ std::uint64_t late(unsigned i) const { return first + rows * row * stride + std::uint64_t{stride} * i; }
  // The same places in Shape::memory.
  __device__ unsigned early_cell(unsigned i) const {
    return row * Shape::width + column + i * padded_rows * Shape::width;
  }
  __device__ unsigned late_cell(unsigned i) const {
    return row * padded_rows * Shape::width + column + i * Shape::width;
  }
};

/// Exchanges the rows row + 16 i for the rows 16 row + i. Other threads may still be loading the group's roots before.
template <class Shape>
__device__ __forceinline__ void columns_down(typename Shape::words& x, const word_factor* roots, word* cells,
                                             const column_tile<Shape>& tile, unsigned done, const word_field& f) {
  __syncthreads();  // the roots are loaded
  forward_rows<log_rows>(x, roots, 1, done, f);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) Shape::store(x, i, cells + tile.early_cell(i));
  __syncthreads();  // and so is the tile
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) Shape::load(x, i, cells + tile.late_cell(i));
  forward_rows<log_rows>(x, roots, rows + tile.row, 0, f);
}

template <class Shape>
__device__ __forceinline__ void columns_up(typename Shape::words& x, typename Shape::memory& here,
                                           const column_tile<Shape>& tile, const word_field& f) {
  __syncthreads();  // the roots are loaded
  backward_rows<log_rows>(x, here.roots, rows + tile.row, 0, f);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) Shape::store(x, i, here.tile + tile.late_cell(i));
  __syncthreads();  // and so is the tile
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) Shape::load(x, i, here.tile + tile.early_cell(i));
  backward_rows<log_rows>(x, here.roots, 1, 0, f);
}

/// A residue of x, below 4 p.
__device__ word residue_of(std::int32_t x, const word_field& f) {
  return times(static_cast<word>(x), f.one, f.p) + (x < 0 ? f.minus_radix : 0);
}
__device__ word residue_of(std::int64_t x, const word_field& f) {
  const auto low = static_cast<word>(x), high = static_cast<word>(x >> 32);
  const word sum = times(high, f.radix, f.p) + times(low, f.one, f.p);
  return lower(sum, f.twice) + (x < 0 ? f.minus_radix_2 : 0);
}

__device__ inline unsigned long long magnitude(std::int64_t x) {
  const auto bits = static_cast<unsigned long long>(x);
  return x < 0 ? 0 - bits : bits;
}

/// Group (part, factor): finds the largest magnitude of the coefficients. Each coefficient is read once.
template <class T>
__global__ void __launch_bounds__(group_size) find_magnitudes(operands<T> on, unsigned long long* largest) {
  constexpr unsigned at_once = 8;
  const T* from = blockIdx.y == 0 ? on.a : on.b;
  const std::uint64_t count = blockIdx.y == 0 ? on.n : on.m, step = std::uint64_t{gridDim.x} * group_size;
  unsigned long long all = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * group_size + threadIdx.x; i < count; i += at_once * step) {
    T value[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) value[k] = i + k * step < count ? from[i + k * step] : T{0};
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) all = max(all, magnitude(value[k]));
  }
  for (unsigned apart = 16; apart != 0; apart /= 2) all = max(all, __shfl_xor_sync(0xffffffff, all, apart));
  if (threadIdx.x % 32 == 0) atomicMax(largest + blockIdx.y, all);
}

/// Group (field, tile, factor): converts coefficients to residues, and computes the first levels. Groups of one tile
/// follow each other, so that its coefficients are read from memory once.
template <class Shape, class T, bool Modular>
__global__ void __launch_bounds__(group_size, Shape::held == 1 ? 5 : 4)
    first_columns(const __grid_constant__ ntt_work work, operands<T> on, std::uint64_t modulus) {
  __shared__ typename Shape::memory here;
  const unsigned k = blockIdx.x;
  if (work.is_idle(k)) return;
  const word_field& f = work.fields.at[k];
  const column_tile<Shape> tile(blockIdx.y, work.points() / column_nodes);
  const T* from = blockIdx.z == 0 ? on.a : on.b;
  const auto count = static_cast<unsigned>(blockIdx.z == 0 ? on.n : on.m);
  // The first level reduces x modulo x^n - 1 and modulo x^n + 1. Both are equal if the upper half of x is zero.
  const bool halved = count <= work.points() / 2;
  typename Shape::words x;
  const auto load = [&](unsigned i, unsigned c) {
    const unsigned at = static_cast<unsigned>(tile.early(i)) + c;
    const T value = at < count ? from[at] : T{0};
    if constexpr (Modular)
      x[c][i] = residue_of(static_cast<std::int64_t>(residue(value, modulus)), f);
    else
      x[c][i] = residue_of(value, f);
  };
#pragma unroll
  for (unsigned i = 0; i < rows; ++i)
#pragma unroll
    for (unsigned c = 0; c < Shape::held; ++c)
      if (i >= rows / 2 && halved)
        x[c][i] = x[c][i - rows / 2];
      else
        load(i, c);
  load_roots<column_nodes>(here.roots, work, k, 0, 0);
  columns_down(x, here.roots, here.tile, tile, halved ? 1 : 0, f);
  word* const to = work.residues(blockIdx.z, k);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) Shape::store(x, i, to + tile.late(i));
}

/// Group (tile, field, factor): computes the next eight levels down or, for the product, the same levels up. The first
/// block is block `first_block` of its level.
template <bool Down>
__global__ void __launch_bounds__(group_size, 4)
    inner_columns(const __grid_constant__ ntt_work work, unsigned stride, unsigned first_block) {
  using shape = wide_columns;
  __shared__ shape::memory here;
  const unsigned k = blockIdx.y;
  if (work.is_idle(k)) return;
  const word_field& f = work.fields.at[k];
  const column_tile<shape> tile(blockIdx.x, stride);
  word* const values = work.residues(blockIdx.z, k);
  shape::words x;
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) shape::load(x, i, values + (Down ? tile.early(i) : tile.late(i)));
  load_roots<column_nodes>(here.roots, work, k, Down ? 0 : 1, first_block + tile.block);
  if constexpr (Down)
    columns_down(x, here.roots, here.tile, tile, 0, f);
  else
    columns_up(x, here, tile, f);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) shape::store(x, i, values + (Down ? tile.late(i) : tile.early(i)));
}

/// The coefficient with these digits in mixed radix.
template <unsigned Fields, bool Modular>
__device__ std::int64_t value_of(const word (&digit)[Fields], const ntt_sums& sums, word last_prime,
                                 std::uint64_t modulus) {
  __extension__ using wide = unsigned __int128;
  std::conditional_t<Modular, wide, std::uint64_t> sum = 0;
#pragma unroll
  for (unsigned k = 0; k < Fields; ++k) sum += decltype(sum){sums.weight[k]} * digit[k];
  if constexpr (Modular) return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum % modulus));
  // Numbers have far fewer bits than the product of all primes.
  const bool negative = digit[Fields - 1] > last_prime / 2;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(negative ? sum - sums.all : sum));
}

/// Where the last columns read residues and write coefficients, if all are in the memory of one device.
struct whole_product {
  std::int64_t* c;
  std::uint64_t length;
  static constexpr unsigned first_tile = 0;

  __device__ const word* residues(const ntt_work& work, unsigned field, std::uint64_t) const {
    return work.residues(0, field);
  }
};

/// Computes the first levels upwards for all fields in use. Garner's algorithm (Knuth, TAOCP 2, 4.3.2) then converts
/// their residues to digits.
template <unsigned Fields, bool Modular, class Product>
__global__ void __launch_bounds__(group_size, Fields <= 3 ? 3 : 1)
    last_columns(const __grid_constant__ ntt_work work, const __grid_constant__ ntt_sums sums, std::uint64_t modulus,
                 const __grid_constant__ Product product) {
  __shared__ column_memory here;
  if ((Fields == least_words) != work.magnitudes.are_small()) return;  // the other launch does it
  const column_tile<narrow_columns> tile(product.first_tile + blockIdx.x, work.points() / column_nodes);
  word digit[rows][Fields];
#pragma unroll
  for (unsigned k = 0; k < Fields; ++k) {
    const word_field& f = work.fields.at[k];
    const word* const residues = product.residues(work, k, tile.late(0));
    narrow_columns::words x;
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) narrow_columns::load(x, i, residues + tile.late(i));
    load_roots<column_nodes>(here.roots, work, k, 1, 0);
    columns_up(x, here, tile, f);
    __syncthreads();  // all have used the roots and the tile
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
      word rest = times(x[0][i], sums.scale[k], f.p);
#pragma unroll
      for (unsigned j = 0; j < k; ++j) rest = times(rest + f.offset - digit[i][j], f.inverse_of[j], f.p);
      digit[i][k] = lower(rest, f.p);
    }
  }
#pragma unroll
  for (unsigned i = 0; i < rows; ++i)
    if (tile.early(i) < product.length)
      product.c[tile.early(i)] = value_of<Fields, Modular>(digit[i], sums, work.fields.at[Fields - 1].p, modulus);
}

}  // namespace tilewise::impl::polymul
