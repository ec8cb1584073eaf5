// SPDX-License-Identifier: Apache-2.0
// What:   copies tiles of A and B from global to shared memory, several steps ahead of their use.
// Order:  none; only data moves.
// Shape:  every thread of the group copies its share; a step is one committed set of copies.
// Limits: compute capability 8.0. Copies are of 16 bytes where addresses allow it, else of one element.
// Twins:  none.
#pragma once

#include "backend/cuda/copy.cuh"
#include "backend/cuda/warp.cuh"
#include "base/ceil_div.hpp"
#include "matmul/cuda/shared.cuh"

namespace tilewise::impl::matmul {

using backend::cuda::commit_copies;
using backend::cuda::copy_async;
using backend::cuda::copy_async_if;
using backend::cuda::pack;
using backend::cuda::pack_length;
using backend::cuda::wait_for_copies;
using backend::cuda::warp_size;

/// Whether all rows start at multiples of 16 bytes.
template <class T>
__host__ __device__ bool is_packable(const T* first, std::uint64_t stride) {
  return (reinterpret_cast<std::uintptr_t>(first) | stride * sizeof(T)) % 16 == 0;
}

/// A matrix as a source of tiles.
template <class T>
struct source {
  const T* first;
  std::uint64_t rows, columns, stride;
  bool in_packs;  // rows start at multiples of 16 bytes

  __device__ source(const T* first_, std::uint64_t rows_, std::uint64_t columns_, std::uint64_t stride_)
      : first(first_), rows(rows_), columns(columns_), stride(stride_), in_packs(is_packable(first_, stride_)) {}
};

/// Returns `value`, by a shuffle. The compiler does not repeat shuffles, so it keeps the value; otherwise it would
/// compute values that depend on the thread's number or on parameters again in each step.
__device__ inline unsigned keep(unsigned value) {
  return __shfl_sync(backend::cuda::all_lanes, value, threadIdx.x % warp_size);
}
__device__ inline std::uint64_t keep(std::uint64_t value) {
  return std::uint64_t{keep(static_cast<unsigned>(value >> 32))} << 32 | keep(static_cast<unsigned>(value));
}

/// Where Rows x Columns elements lie in shared memory: rows are Pitch apart, and the groups of four columns of a row
/// are in one of Period orders. So the same group in Period consecutive rows is in different banks.
template <unsigned Rows, unsigned Columns, unsigned Pitch, unsigned Period = 1>
struct tile_layout {
  static constexpr unsigned rows = Rows, columns = Columns, pitch = Pitch, size = Rows * Pitch, period = Period;
  __device__ static unsigned at(unsigned row, unsigned column) { return row * Pitch + (column ^ row % period * 4); }
};

/// Copies consecutive tiles of a matrix to shared memory, in packs.
template <class T, class Layout, unsigned Threads>
class tile_copy {
  static constexpr unsigned length = pack_length<T>, packs = Layout::columns / length, down = Threads / packs;
  static_assert(Layout::rows % down == 0 && Threads % packs == 0 && down % Layout::period == 0);

 public:
  static constexpr unsigned loads = Layout::rows / down;  // packs that a thread copies

  __device__ tile_copy(const source<T>& from, std::uint64_t row, std::uint64_t column)
      : stride_(keep(down * from.stride)), to_(keep(Layout::at(threadIdx.x / packs, threadIdx.x % packs * length))) {
    row += threadIdx.x / packs;
    column += threadIdx.x % packs * length;
    next_ = from.first + row * from.stride + column;
    if (row < from.rows && column < from.columns)
      inside_ = static_cast<unsigned>(min(ceil_div(from.rows - row, std::uint64_t{down}), std::uint64_t{loads}));
  }

  /// Copies packs First to Last - 1. Packs beyond the matrix stay as they are. There is no branch around a copy:
  /// between products, each branch took as long as two products.
  template <unsigned First, unsigned Last>
  __device__ void copy(T* tile) const {
    if constexpr (First < Last) {
#pragma unroll
      for (unsigned i = First; i < Last; ++i)
        copy_async_if<16>(i < inside_, tile + to_ + i * down * Layout::pitch, next_ + i * stride_);
    }
  }
  __device__ void advance(std::uint64_t elements) { next_ += elements; }
  /// Ends copying.
  __device__ void stop() { inside_ = 0; }

 private:
  const T* next_;
  std::uint64_t stride_;
  unsigned to_, inside_ = 0;
};

/// Copies the tile at (row, column) element by element. Elements beyond the matrix stay as they are.
template <class Layout, unsigned Threads, class T>
__device__ void copy_elements(T* to, const source<T>& from, std::uint64_t row, std::uint64_t column) {
  constexpr unsigned down = Threads / Layout::columns;
  static_assert(Threads % Layout::columns == 0);
  const unsigned x = threadIdx.x % Layout::columns, y = threadIdx.x / Layout::columns;
  const bool inside = column + x < from.columns;
  const T* next = from.first + (row + y) * from.stride + column + x;
#pragma unroll 8
  for (unsigned i = 0; i < Layout::rows / down; ++i, next += down * from.stride)
    copy_async_if<sizeof(T)>(inside && row + y + i * down < from.rows, to + Layout::at(y + i * down, x), next);
}

/// Sets the elements of the tile at (row, column) that are beyond the matrix to `value`.
template <class Layout, unsigned Threads, class T>
__device__ void fill_beyond(T* to, const source<T>& from, std::uint64_t row, std::uint64_t column, T value) {
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < Layout::rows * Layout::columns; i += Threads) {
    const unsigned y = i / Layout::columns, x = i % Layout::columns;
    if (row + y >= from.rows || column + x >= from.columns) to[Layout::at(y, x)] = value;
  }
}

/// The steps of a tile from `first` to `last`. Steps before `whole` have all of their k's.
struct step_range {
  unsigned first, last, whole;
};

/// The steps from `first` to `last`, as far as they exist.
template <class S>
__device__ step_range steps_of(const sizes& s, std::uint64_t first = 0,
                               std::uint64_t last = std::numeric_limits<std::uint64_t>::max()) {
  return {static_cast<unsigned>(first), static_cast<unsigned>(min(last, ceil_div(s.k, S::depth))),
          static_cast<unsigned>(min(last, s.k / S::depth))};
}

/// Copies the tiles of A and B of one step after the other to the stages.
template <class S>
class tile_copies {
  using T = typename S::T;

 public:
  __device__ tile_copies(const operands<T>& o, tile_place tile, step_range steps)
      : a_(o.a, o.m, o.k, o.lda),
        b_(o.b, o.k, o.n, o.ldb),
        tile_(tile),
        last_(steps.last),
        next_(steps.first),
        b_step_(keep(S::depth * o.ldb)),
        of_a_(a_, tile.row, std::uint64_t{steps.first} * S::depth),
        of_b_(b_, std::uint64_t{steps.first} * S::depth, tile.column) {
    const bool columns_in_packs = o.n % pack_length<T> == 0 || tile.column + S::columns <= o.n;
    in_packs_ = a_.in_packs && b_.in_packs && columns_in_packs ? steps.whole : 0;
    if (next_ >= in_packs_) stop();
  }

  /// Starts part `Part` of `Parts` of the next step's copies.
  template <unsigned Part, unsigned Parts>
  __device__ void start(T* stage) const {
    constexpr unsigned a = of_a_.loads, b = of_b_.loads;
    of_a_.template copy<Part * a / Parts, (Part + 1) * a / Parts>(stage);
    of_b_.template copy<Part * b / Parts, (Part + 1) * b / Parts>(stage + S::a_tile::size);
    if (Part + 1 == Parts && next_ >= in_packs_ && next_ < last_) {
      const std::uint64_t k = std::uint64_t{next_} * S::depth;
      copy_elements<typename S::a_tile, S::threads>(stage, a_, tile_.row, k);
      copy_elements<typename S::b_tile, S::threads>(stage + S::a_tile::size, b_, k, tile_.column);
      if (k + S::depth > a_.columns) {
        fill_beyond<typename S::a_tile, S::threads>(stage, a_, tile_.row, k, absent_a<T>());
        fill_beyond<typename S::b_tile, S::threads>(stage + S::a_tile::size, b_, k, tile_.column, T(0));
      }
    }
  }

  /// Commits the copies of the step whose parts have been started. Also commits if there are none, so that the number
  /// of sets is that of steps.
  __device__ void close() {
    commit_copies();
    ++next_;
    of_a_.advance(S::depth);
    of_b_.advance(b_step_);
    if (next_ >= in_packs_) stop();
  }

 private:
  __device__ void stop() {
    of_a_.stop();
    of_b_.stop();
  }

  const source<T> a_, b_;
  const tile_place tile_;
  const unsigned last_;  // steps, as those below
  unsigned in_packs_, next_;
  const std::uint64_t b_step_;
  tile_copy<T, typename S::a_tile, S::threads> of_a_;
  tile_copy<T, typename S::b_tile, S::threads> of_b_;
};

/// Calls f for First to Last - 1, as compile-time constants.
template <unsigned First, unsigned Last, class F>
__device__ void unrolled(F&& f) {
  if constexpr (First < Last) {
    f.template operator()<First>();
    unrolled<First + 1, Last>(f);
  }
}

/// Loads `Length` neighbours in a row of C, from `column` on, past the first-level cache. Elements beyond the last
/// column stay as they are.
template <unsigned Length, class T>
__device__ void load_row(const T* row, std::uint64_t column, std::uint64_t columns, T* values) {
#pragma unroll
  for (unsigned e = 0; e < Length; ++e)
    if (column + e < columns) values[e] = __ldcg(row + column + e);
}

/// Stores `Length` neighbours in a row of C, canonical, from `column` on, without those beyond the last column.
template <unsigned Length, class T>
__device__ void store_row(T* row, std::uint64_t column, std::uint64_t columns, const T* values, bool in_packs) {
  T ready[Length];
#pragma unroll
  for (unsigned e = 0; e < Length; ++e) ready[e] = order::canonical(values[e]);
  if (in_packs && column + Length <= columns) {
    struct alignas(Length * sizeof(T)) unit {
      T at[Length];
    };
    *reinterpret_cast<unit*>(row + column) = *reinterpret_cast<const unit*>(ready);
  } else {
#pragma unroll
    for (unsigned e = 0; e < Length; ++e)
      if (column + e < columns) row[column + e] = ready[e];
  }
}

}  // namespace tilewise::impl::matmul
