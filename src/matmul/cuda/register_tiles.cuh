// SPDX-License-Identifier: Apache-2.0
// What:   a group computes a tile of C; a thread holds several rows and columns of it in registers. While the tiles of
//         A and B in one stage of shared memory are multiplied, those of later steps are copied to the other stages.
// Order:  one chain per element. One thread computes it or, if a tile is shared by two groups, one thread of each.
// Shape:  a warp is 4 threads down by 8 across; one barrier per step of `depth` k's.
// Limits: none. If rows of large operands do not begin at multiples of 16 bytes, the operands are copied if there is
//         room.
// Twins:  serial.cpp, opencl/register_tiles.cl.
#pragma once

#include "base/ceil_div.hpp"
#include "matmul/cuda/copy.cuh"
#include "matmul/cuda/row_copies.cuh"
#include "matmul/cuda/shares.cuh"

namespace tilewise::impl::matmul {

/// Rows x Columns of C for a group, ThreadRows x ThreadColumns for a thread, Depth k's per step.
template <class T_, unsigned Speed, unsigned Rows, unsigned Columns, unsigned ThreadRows, unsigned ThreadColumns,
          unsigned Depth, unsigned Groups>
struct register_shape {
  using T = T_;
  static constexpr unsigned rows = Rows, columns = Columns, thread_rows = ThreadRows, thread_columns = ThreadColumns,
                            depth = Depth, groups_a_unit = Groups, speed = Speed;
  static constexpr unsigned warp_rows = 4 * ThreadRows, warp_columns = 8 * ThreadColumns,
                            warps_across = Columns / warp_columns,
                            threads = Rows / warp_rows * warps_across * warp_size;
  // How many elements a thread reads at once: up to 16 bytes.
  static constexpr unsigned unit_rows = ThreadRows < pack_length<T> ? ThreadRows : pack_length<T>,
                            unit_columns = ThreadColumns < pack_length<T> ? ThreadColumns : pack_length<T>;
  // On an H200 up to 14 % faster, but not for threads with 8 x 8 elements; other shapes were not measured.
  static constexpr bool lanes_in_pairs = sizeof(T) == 4 && ThreadColumns == 4;
  static constexpr unsigned a_pitch = Rows + 4, b_pitch = Columns;
  static constexpr unsigned a_size = Depth * a_pitch, stage_size = a_size + Depth * b_pitch;
};

/// Where a thread's first unit lies in its tile; the others follow 4 units down and 8 units across. With lanes in
/// pairs, eight lanes are two down by four across. Sixteen lanes then read no more of a row of B than shared memory
/// serves at once.
template <class S>
struct thread_place {
  unsigned row, column;

  __device__ thread_place() {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const unsigned down = S::lanes_in_pairs ? lane / 16 * 2 + lane % 2 : lane / 8,
                   across = S::lanes_in_pairs ? lane / 2 % 8 : lane % 8;
    row = warp / S::warps_across * S::warp_rows + down * S::unit_rows;
    column = warp % S::warps_across * S::warp_columns + across * S::unit_columns;
  }
};

template <unsigned Count, unsigned Unit, unsigned Step, class T>
__device__ void load_units(T (&to)[Count], const T* from) {
  struct alignas(Unit * sizeof(T)) unit {
    T at[Unit];
  };
#pragma unroll
  for (unsigned q = 0; q < Count / Unit; ++q) {
    const unit loaded = *reinterpret_cast<const unit*>(from + q * Step);
#pragma unroll
    for (unsigned e = 0; e < Unit; ++e) to[q * Unit + e] = loaded.at[e];
  }
}

/// The factors that a thread needs for one k of a step.
template <class S>
struct fragments {
  typename S::T a[S::thread_rows], b[S::thread_columns];

  __device__ void load(const typename S::T* stage, unsigned k, thread_place<S> me) {
    load_units<S::thread_rows, S::unit_rows, 4 * S::unit_rows>(a, stage + k * S::a_pitch + me.row);
    load_units<S::thread_columns, S::unit_columns, 8 * S::unit_columns>(b,
                                                                        stage + S::a_size + k * S::b_pitch + me.column);
  }
};

/// Continues each chain by one k.
template <class S>
__device__ void multiply(const typename S::T (&a)[S::thread_rows], const typename S::T (&b)[S::thread_columns],
                         typename S::T (&chains)[S::thread_rows][S::thread_columns]) {
#pragma unroll
  for (unsigned r = 0; r < S::thread_rows; ++r)
#pragma unroll
    for (unsigned x = 0; x < S::thread_columns; ++x) {
      const unsigned c = r % 2 == 0 ? x : S::thread_columns - 1 - x;
      chains[r][c] = multiply_add(a[r], b[c], chains[r][c]);
    }
}

/// Calls f(row of C, column, r, c) for each unit of the thread's part of C. chains[r][c] is the unit's first element.
template <class S, class F>
__device__ void for_each_unit(const operands<typename S::T>& o, tile_place tile, thread_place<S> me, F&& f) {
#pragma unroll
  for (unsigned r = 0; r < S::thread_rows; ++r) {
    const std::uint64_t i = tile.row + me.row + r / S::unit_rows * 4 * S::unit_rows + r % S::unit_rows;
    if (i >= o.m) continue;
#pragma unroll
    for (unsigned c = 0; c < S::thread_columns; c += S::unit_columns)
      f(o.c + i * o.ldc, tile.column + me.column + c * 8, r, c);
  }
}

template <class S>
__device__ void store_chains(const operands<typename S::T>& o, tile_place tile, thread_place<S> me,
                             const typename S::T (&chains)[S::thread_rows][S::thread_columns]) {
  const bool in_packs = is_packable(o.c, o.ldc);
  for_each_unit<S>(o, tile, me, [&](auto* row, std::uint64_t column, unsigned r, unsigned c) {
    store_row<S::unit_columns>(row, column, o.n, &chains[r][c], in_packs);
  });
}

/// Loads the chains as they were stored, possibly by another group of this launch.
template <class S>
__device__ void load_chains(const operands<typename S::T>& o, tile_place tile, thread_place<S> me,
                            typename S::T (&chains)[S::thread_rows][S::thread_columns]) {
  for_each_unit<S>(o, tile, me, [&](auto* row, std::uint64_t column, unsigned r, unsigned c) {
    load_row<S::unit_columns>(row, column, o.n, &chains[r][c]);
  });
}

/// A thread's part of the next tile of A, on the way to shared memory. It is transposed there: packs that lie along k
/// are stored along the rows. A warp reads two neighbouring packs of 16 rows.
template <class S>
class a_copy {
  using T = typename S::T;
  static constexpr unsigned length = pack_length<T>, packs = S::rows * S::depth / length,
                            loads = ceil_div(packs, S::threads), across = S::depth / length / 2,
                            down = S::threads / warp_size / across * 16;
  static_assert(S::threads / warp_size % across == 0);

 public:
  __device__ a_copy(const operands<T>& o, tile_place tile, std::uint64_t first)
      : k_(o.k), whole_(is_packable(o.a, o.lda) ? o.k : 0) {
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    x_ = (warp % across * 2 + lane % 2) * length;
    y_ = warp / across * 16 + lane / 2;
#pragma unroll
    for (unsigned i = 0; i < loads; ++i)  // beyond the last row, reads the last one; these products are not written
      next_[i] = o.a + min(tile.row + y_ + i * down, o.m - 1) * o.lda + first + x_;
  }

  /// Loads the tile at `k`: `first` in the first call, then `depth` more in each call.
  __device__ void load(std::uint64_t k) {
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
      if (k + S::depth <= whole_) {
        held_[i] = *reinterpret_cast<const pack<T>*>(next_[i]);
      } else {
#pragma unroll
        for (unsigned e = 0; e < length; ++e) held_[i].at[e] = k + x_ + e < k_ ? next_[i][e] : absent_a<T>();
      }
      next_[i] += S::depth;
    }
  }

  __device__ void store(T* stage) const {
#pragma unroll
    for (unsigned i = 0; i < loads; ++i)
#pragma unroll
      for (unsigned e = 0; e < length; ++e)
        if (packs % S::threads == 0 || y_ + i * down < S::rows)
          stage[(x_ + e) * S::a_pitch + y_ + i * down] = held_[i].at[e];
  }

 private:
  std::uint64_t k_, whole_;  // whole_: the k's that may be read in packs
  unsigned x_, y_;
  const T* next_[loads];
  pack<T> held_[loads];
};

/// The same for B, not transposed.
template <class S>
class b_copy {
  using T = typename S::T;
  static constexpr unsigned length = pack_length<T>, packs = S::columns / length, loads = S::depth * packs / S::threads,
                            down = S::threads / packs;
  static_assert(S::depth * packs % S::threads == 0 && S::threads % packs == 0);

 public:
  __device__ b_copy(const operands<T>& o, tile_place tile, std::uint64_t first) : k_(o.k), stride_(o.ldb) {
    y_ = threadIdx.x / packs;
    x_ = threadIdx.x % packs * length;
    // Beyond the last column, other columns are read; their products are not written.
    const std::uint64_t column = tile.column + x_ < o.n ? tile.column + x_ : tile.column;
    columns_ = static_cast<unsigned>(min(o.n - column, std::uint64_t{length}));
    next_ = o.b + (first + y_) * o.ldb + column;
    // The last pack of a row may reach beyond its last column, up to where the next row begins. But nothing may be read
    // after the last row.
    const bool is_ragged = o.n % length != 0 && tile.column + S::columns > o.n;
    whole_ = is_packable(o.b, o.ldb) ? o.k - (is_ragged ? 1 : 0) : 0;
  }

  __device__ void load(std::uint64_t k) {
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
      const T* const from = next_ + i * down * stride_;
      if (k + S::depth <= whole_) {
        held_[i] = *reinterpret_cast<const pack<T>*>(from);
      } else {
#pragma unroll
        for (unsigned e = 0; e < length; ++e) held_[i].at[e] = k + y_ + i * down < k_ && e < columns_ ? from[e] : T(0);
      }
    }
    next_ += S::depth * stride_;
  }

  __device__ void store(T* stage) const {
#pragma unroll
    for (unsigned i = 0; i < loads; ++i)
      *reinterpret_cast<pack<T>*>(stage + S::a_size + (y_ + i * down) * S::b_pitch + x_) = held_[i];
  }

 private:
  std::uint64_t k_, stride_, whole_;
  unsigned x_, y_, columns_;
  const T* next_;
  pack<T> held_[loads];
};

/// Continues the chains by the k's from `begin`, a multiple of `depth`, to `end`.
template <class S>
__device__ void multiply_range(const operands<typename S::T>& o, typename S::T (&stages)[2][S::stage_size],
                               tile_place tile, thread_place<S> me, std::uint64_t begin, std::uint64_t end,
                               typename S::T (&chains)[S::thread_rows][S::thread_columns]) {
  if (begin >= end) return;
  a_copy<S> a(o, tile, begin);
  b_copy<S> b(o, tile, begin);
  a.load(begin);
  b.load(begin);
  a.store(stages[0]);
  b.store(stages[0]);
  __syncthreads();  // the first stage is loaded
  if (begin + S::depth < end) {
    a.load(begin + S::depth);
    b.load(begin + S::depth);
  }
  fragments<S> f[2];
  f[0].load(stages[0], 0, me);
  unsigned now = 0;
  for (std::uint64_t first = begin; first < end; first += S::depth) {
#pragma unroll
    for (unsigned k = 0; k < S::depth; ++k) {
      if (k + 1 == S::depth) {
        __syncthreads();  // the other stage is loaded, and this one is no longer used
        now ^= 1;
      }
      f[(k + 1) % 2].load(stages[now], (k + 1) % S::depth, me);
      if (k == 0) {
        a.store(stages[now ^ 1]);
        b.store(stages[now ^ 1]);
        if (first + 2 * S::depth < end) {
          a.load(first + 2 * S::depth);
          b.load(first + 2 * S::depth);
        }
      }
      multiply<S>(f[k % 2].a, f[k % 2].b, chains);
    }
  }
}

template <class S>
__global__ void __launch_bounds__(S::threads, S::groups_a_unit) register_tiles(const operands<typename S::T> o) {
  using T = typename S::T;
  __shared__ __align__(16) T stages[2][S::stage_size];
  const tile_place tile = place_of(o, S::rows, S::columns);
  const thread_place<S> me;
  T chains[S::thread_rows][S::thread_columns]{};
  multiply_range<S>(o, stages, tile, me, 0, o.k, chains);
  store_chains<S>(o, tile, me, chains);
}

template <class S>
__global__ void __launch_bounds__(S::threads, S::groups_a_unit)
    shared_register_tiles(const operands<typename S::T> o, const shares all) {
  using T = typename S::T;
  __shared__ __align__(16) T stages[2][S::stage_size];
  const thread_place<S> me;
  using held = T[S::thread_rows][S::thread_columns];
  make_share<S, held>(
      o, all, [&](const tile_place& tile, held& chains) { load_chains<S>(o, tile, me, chains); },
      [&](const tile_place& tile, const piece& p, held& chains) {
        multiply_range<S>(o, stages, tile, me, p.first * S::depth, min(p.last * S::depth, o.k), chains);
      },
      [&](const tile_place& tile, held& chains) { store_chains<S>(o, tile, me, chains); });
}

}  // namespace tilewise::impl::matmul
