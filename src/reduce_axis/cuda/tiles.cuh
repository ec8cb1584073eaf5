// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis on CUDA: lines by tiles that a group holds in registers (tile_values, finish_tiles), columns of a
//         few elements (finish_short_columns), short rows (finish_short_rows), tiles of long rows (row_tile_values).
// Order:  that of opencl/program.cl: tiles are aligned blocks; the rest are the digits of the length.
// Shape:  tile.cuh: a thread has a run of 16 elements of a line, with all loads in flight at once; then runs are
//         combined. One thread computes a column that is no longer than a run. Short rows are computed by
//         reduce/cuda/rows.cuh. One warp computes a tile of a long row, and reads it by chunks, as reduce does.
// Limits: tiles have 32 columns side by side, so that a warp reads whole rows of them.
// Twins:  opencl/program.cl.
#pragma once

#include "reduce/cuda/chunks.cuh"
#include "reduce/cuda/rows.cuh"
#include "reduce_axis/cuda/tile.cuh"

namespace tilewise::impl::reduce_axis {

using backend::cuda::tree_of;

/// Where results go: to the prefixes of a lower level, or to the results of the lines.
template <class T>
struct destination {
  T* to;
  T first;
  bool is_last;

  template <class Op>
  __device__ void put(std::uint64_t line, T prefix) const {
    to[line] = is_last ? order::canonical(Op::template apply<T>(first, prefix)) : prefix;
  }
};

/// The prefix before a line's elements, if there is one.
template <class Op, class T>
__device__ T prefix_before(const T* prefixes, std::uint64_t line) {
  return prefixes == nullptr ? Op::template identity<T>() : prefixes[line];
}

/// Folds the first `count` values of x onto `prefix`; count < 2 Count. The values that are left move to the front,
/// since with indices that depend on `count` they could not stay in registers.
template <class Op, unsigned Count, class T>
__device__ T fold_held(T prefix, T* x, unsigned count) {
  if constexpr (Count == 0) {
    return prefix;
  } else {
    if ((count & Count) != 0) {
      prefix = Op::template apply<T>(prefix, tree_of<Op, Count>(x));
#pragma unroll
      for (unsigned i = 0; i + 1 < Count; ++i) x[i] = x[i + Count];
    }
    return fold_held<Op, Count / 2>(prefix, x, count);
  }
}

/// The same for a whole run or less.
template <class Op, class T>
__device__ T fold_run(T prefix, T (&x)[items], unsigned count) {
  if (count == items) return Op::template apply<T>(prefix, tree_of<Op, items>(x));
  return fold_held<Op, items / 2>(prefix, x, count);
}

__device__ inline std::uint64_t first_thread() { return std::uint64_t{blockIdx.x} * group_size + threadIdx.x; }
__device__ inline std::uint64_t all_threads() { return std::uint64_t{gridDim.x} * group_size; }

template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    finish_short_columns(const T* a, const registry::lines of, const T* prefixes, destination<T> results) {
  const auto length = static_cast<unsigned>(of.length);
  for (std::uint64_t line = first_thread(); line < of.count; line += all_threads()) {
    T x[items] = {};
#pragma unroll
    for (unsigned some = 0; some < items; some += 4)
      if (some < length) {
#pragma unroll
        for (unsigned i = some; i < some + 4; ++i)
          if (i < length) x[i] = a[line + i * of.element];
      }
    results.template put<Op>(line, fold_run<Op>(prefix_before<Op>(prefixes, line), x, length));
  }
}

template <class T, class Op>
__global__ void __launch_bounds__(reduce::short_row_group, reduce::short_row_groups)
    finish_short_rows(reduce::short_rows<T> of, const T* prefixes, destination<T> results) {
  __shared__ reduce::row_stage<T> stage;
  reduce::stage_rows(of, stage);
  reduce::fold_rows<Op>(
      of,
      [&](unsigned row, unsigned r, unsigned i) {
        return stage[place<T>(row * of.length + r * reduce::run_length + i)];
      },
      [&](unsigned row) { return prefix_before<Op>(prefixes, of.first() + row); },
      [&](unsigned row, T all) { results.template put<Op>(of.first() + row, all); });
}

/// The value of the tile's part of the thread's line; x gets the thread's run, and `left` what meet() leaves there.
template <class Op, class T>
__device__ T value_of_tile(const tile_shape& s, const registry::lines& of, const tile_place& p, const own_run& at,
                           const T* a, T (&x)[items], T (&left)[log_group]) {
  __shared__ T stage[stage_places<T>], values[group_size];
  if (!is_direct<T>(s)) load_stage(s, of, p, a, stage);
  take_run<Op>(s, of, p, at, a, stage, x);
  return meet<Op>(s, tree_of<Op, items>(x), left, values);
}

/// Computes the values of whole tiles of rows, which lie `stride` apart, each by one warp. values[l * tiles + t] is
/// that of tile t of row l.
template <class T, class Op>
__global__ void __launch_bounds__(group_size, 1024 / group_size)
    row_tile_values(const T* a, std::uint64_t stride, std::uint64_t rows, std::uint64_t tiles, bool packable,
                    T* values) {
  constexpr unsigned length = reduce::chunk_length<T>, chunks = tile_elements / length;
  const unsigned lane = threadIdx.x & ((1u << log_warp) - 1);
  for (std::uint64_t unit = first_thread() >> log_warp; unit < rows * tiles; unit += all_threads() >> log_warp) {
    const std::uint64_t row = unit / tiles;
    const T* const x = a + row * stride + (unit - row * tiles) * tile_elements;
    T mine = Op::template identity<T>();
#pragma unroll 1
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      const T value = reduce::chunk_value<Op>(x + chunk * length, length, packable);
      if (lane == chunk) mine = value;
    }
    const T all = backend::cuda::warp_tree<Op, chunks>(mine);
    if (lane == 0) values[unit] = all;
  }
}

/// Computes the values of whole tiles. values[t * lines + l] is that of tile t of line l.
template <class T, class Op>
__global__ void __launch_bounds__(group_size, groups_together<T>)
    tile_values(const T* a, const registry::lines of, const tile_shape shape, T* values) {
  const tile_place p(shape, of, blockIdx.x);
  const own_run at(shape, p);
  T x[items], left[log_group];
  const T value = value_of_tile<Op>(shape, of, p, at, a, x, left);
  if (at.number == 0 && at.line < p.present) values[p.tile * of.count + p.line + at.line] = value;
}

template <class T, class Op>
__global__ void __launch_bounds__(group_size, groups_together<T>)
    finish_tiles(const T* a, const registry::lines of, const tile_shape shape, const T* prefixes,
                 destination<T> results) {
  const tile_place p(shape, of, blockIdx.x);
  const own_run at(shape, p);
  T x[items], left[log_group];
  const T value = value_of_tile<Op>(shape, of, p, at, a, x, left);
  const bool is_whole = p.length >> shape.log_length != 0;
  if (at.number != (is_whole ? 0 : p.length / items) || at.line >= p.present) return;
  const T before = prefix_before<Op>(prefixes, p.line + at.line);
  const T all = is_whole ? Op::template apply<T>(before, value)
                         : fold_held<Op, items / 2>(prefix_of_run<Op>(before, left), x, at.count);
  results.template put<Op>(p.line + at.line, all);
}

}  // namespace tilewise::impl::reduce_axis
