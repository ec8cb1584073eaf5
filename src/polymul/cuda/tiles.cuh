// SPDX-License-Identifier: Apache-2.0
// What:   a group computes a tile of neighbouring coefficients; a thread has `items` of them in registers. A step takes
//         `step` values of i: their a's, and the b's that the tile needs for them, are in shared memory. For `items`
//         consecutive i's a thread needs 2 items - 1 b's; half of them are the same as for the i's before.
// Order:  one chain per coefficient, computed by one thread. If integers wrap, the i's may be cut into parts with
//         separate chains, whose sums are added in any order.
// Shape:  two barriers per step. A grid is tiles x parts x products; factors of several products follow each
//         other, their coefficients n + m apart.
// Limits: a step is a multiple of 2 items.
// Twins:  serial.cpp, opencl/tiles.cl.
#pragma once

#include "backend/cuda/warp.cuh"
#include "polymul/cuda/shared.cuh"

namespace tilewise::impl::polymul {

using backend::cuda::pack;
using backend::cuda::pack_length;

template <class Factor, unsigned Items, unsigned Threads, unsigned Step>
struct tile_shape {
  using factor = Factor;
  static constexpr unsigned items = Items, threads = Threads, step = Step, tile = Items * Threads;
  // The b's lie in rows of `items`. A thread reads one row at a time, downwards. Rows are an odd number of packs apart,
  // so that neighbouring threads read from different banks.
  static constexpr unsigned rows = (tile + step) / items,
                            pitch = (items / pack_length<factor> | 1) * pack_length<factor>;
  __device__ static unsigned place_of(unsigned i) { return i + i / items * (pitch - items); }
  static_assert(step % (2 * items) == 0 && items % pack_length<factor> == 0);
};

template <class S>
struct factors {
  alignas(16) typename S::factor a[S::step], b[S::rows * S::pitch];
};

/// What a thread needs for `items` consecutive i's.
template <class S>
struct block_place {
  const typename S::factor *a, *b;  // the a's; the lower of two rows of b's
  std::int64_t ahead;               // k - i for the thread's first coefficient k and the first i
  std::int64_t left;                // n - i

  __device__ void advance() {
    a += S::items;
    b -= S::pitch;
    ahead -= S::items;
    left -= S::items;
  }
};

template <class S>
__device__ void read_row(const typename S::factor* from, typename S::factor (&row)[S::items]) {
  constexpr unsigned length = pack_length<typename S::factor>;
#pragma unroll
  for (unsigned j = 0; j < S::items; j += length) {
    const auto values = *reinterpret_cast<const pack<typename S::factor>*>(from + j);
#pragma unroll
    for (unsigned e = 0; e < length; ++e) row[j + e] = values.at[e];
  }
}

template <class S, class Arithmetic>
class tile_multiplier {
  using T = typename Arithmetic::T;
  using factor = typename S::factor;
  using row = factor[S::items];

 public:
  __device__ tile_multiplier(const operands<T>& o, const Arithmetic& by, std::uint64_t first, factors<S>& shared)
      : o_(o), by_(by), first_(first), shared_(shared) {}

  __device__ void multiply(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; i += S::step) {
      load(i);
      __syncthreads();  // the step's a's and b's are loaded
      multiply_step(i);
      __syncthreads();  // and are done with
    }
  }

  __device__ std::uint64_t mine() const { return first_ + threadIdx.x * S::items; }

  typename Arithmetic::chain chains[S::items]{};

 private:
  __device__ void load(std::uint64_t i) {
    for (unsigned at = threadIdx.x; at < S::step; at += S::threads)
      shared_.a[at] = i + at < o_.n ? by_.factor_of(o_.a[i + at]) : 0;
#pragma unroll 4
    for (unsigned at = threadIdx.x; at < S::tile + S::step; at += S::threads) {
      const std::uint64_t j = first_ - i - S::step + at;  // wraps far beyond m if negative
      shared_.b[S::place_of(at)] = j < o_.m ? by_.factor_of(o_.b[j]) : 0;
    }
  }

  /// Computes all i's of a step. Two rows alternate, so that none is moved between registers.
  __device__ void multiply_step(std::uint64_t i) {
    block_place<S> x{shared_.a, shared_.b + (threadIdx.x + S::step / S::items - 1) * S::pitch,
                     static_cast<std::int64_t>(mine() - i), static_cast<std::int64_t>(o_.n - i)};
    row even, odd;
    read_row<S>(x.b + S::pitch, odd);
#pragma unroll 1
    for (unsigned done = 0; done < S::step; done += 2 * S::items) {
      multiply_block(x, even, odd);
      x.advance();
      multiply_block(x, odd, even);
      x.advance();
    }
  }

  /// Computes `items` i's. Loads the lower row of b's into `low`; `high` is the row above.
  __device__ void multiply_block(const block_place<S>& x, row& low, const row& high) {
    read_row<S>(x.b, low);
    constexpr std::int64_t reach = S::items - 1;
    const auto m = static_cast<std::int64_t>(o_.m);
    if (x.left <= 0 || x.ahead + reach < 0 || x.ahead - reach >= m) return;
    if (Arithmetic::takes_zeros || (x.left > reach && x.ahead >= reach && x.ahead + reach < m))
      multiply_all(x, low, high);
    else if constexpr (!Arithmetic::takes_zeros)
      multiply_some(x, m);
  }

  __device__ void multiply_all(const block_place<S>& x, const row& low, const row& high) {
    row a;
    read_row<S>(x.a, a);
#pragma unroll
    for (int q = 0; q < S::items; ++q)
#pragma unroll
      for (int r = 0; r < S::items; ++r) by_.add_product(chains[r], a[q], r < q ? low[S::items + r - q] : high[r - q]);
  }

  /// The same if some of the products belong to no chain.
  __device__ void multiply_some(const block_place<S>& x, std::int64_t m) {
#pragma unroll 1
    for (int q = 0; q < S::items && q < x.left; ++q)
#pragma unroll
      for (int r = 0; r < S::items; ++r) {
        const std::int64_t j = x.ahead + r - q;
        if (j >= 0 && j < m) by_.add_product(chains[r], x.a[q], x.b[S::place_of(S::items + r - q)]);
      }
  }

  const operands<T>& o_;
  const Arithmetic& by_;
  std::uint64_t first_;
  factors<S>& shared_;
};

/// Numbers tiles from the middle outwards: the longest chains are in the middle, and the longest work should start
/// first.
__device__ inline std::uint64_t middle_first(unsigned i, unsigned count) {
  return i % 2 == 0 ? count / 2 + i / 2 : count / 2 - (i + 1) / 2;
}

template <class S, class Arithmetic>
__global__ void __launch_bounds__(S::threads)
    multiply_tiles(operands<typename Arithmetic::T> o, const Arithmetic by, std::uint64_t part_length) {
  __shared__ factors<S> shared;
  o.a += blockIdx.z * o.n;
  o.b += blockIdx.z * o.m;
  o.c += blockIdx.z * (o.n + o.m);
  const std::uint64_t at = middle_first(blockIdx.x, gridDim.x) * S::tile, first = o.first + at;
  const std::uint64_t begin = begin_of(first, o.m) + blockIdx.y * part_length;
  const std::uint64_t end = min(end_of(first + S::tile - 1, o.n), begin + part_length);
  if (begin >= end) return;  // a tile at the ends has fewer parts
  tile_multiplier<S, Arithmetic> tile(o, by, first, shared);
  tile.multiply(begin, end);
#pragma unroll
  for (unsigned r = 0; r < S::items; ++r)
    if (const std::uint64_t k = tile.mine() + r - o.first; k < o.length) by.store(o.c + k, tile.chains[r], gridDim.y);
}

}  // namespace tilewise::impl::polymul
