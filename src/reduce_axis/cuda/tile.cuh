// SPDX-License-Identifier: Apache-2.0
// What:   a tile of several lines of a matrix in the registers of a group: how it is read, and how its blocks are
//         combined.
// Order:  a thread has a run of one line, which is an aligned block. Some bits of the thread's number are the number of
//         the run; each of them is a level on which runs are combined: by shuffles within a warp, then in shared
//         memory.
// Shape:  256 threads with 16 elements each. Lines that lie side by side in memory are read directly; others pass
//         through shared memory, which is filled in memory order. A tile without gaps in memory has none in shared
//         memory either, so that rows of any length waste no space.
// Limits: called by whole groups. Lines no longer than a run have separate kernels.
// Twins:  line_tile.cl.
#pragma once

#include "backend/cuda/warp.cuh"
#include "reduce/cuda/rows.cuh"
#include "reduce_axis/tile.hpp"

namespace tilewise::impl::reduce_axis {

using backend::cuda::all_lanes;
using reduce::place;

inline constexpr unsigned log_group = 8, group_size = 1u << log_group, log_warp = 5;
inline constexpr unsigned items = 16;
inline constexpr unsigned tile_elements = group_size * items;

template <class T>
inline constexpr unsigned stage_places = place<T>(tile_elements) + 1;

/// As many groups at once as registers for a run in each thread allow.
template <class T>
inline constexpr unsigned groups_together = sizeof(T) == 4 ? 4 : 3;

inline tile_shape shape_for(const registry::lines& of, bool by_rows, bool is_packed) {
  return shape_for(of, by_rows, is_packed, group_size, items);
}

/// Where a group works: `present` lines from `line` on, `length` elements of each from `begin` on.
struct tile_place {
  unsigned tile;
  std::uint64_t begin, line;
  unsigned length, present;

  __device__ tile_place(const tile_shape& s, const registry::lines& of, unsigned group) {
    tile = group / s.bands;
    begin = std::uint64_t{tile} << s.log_length;
    line = std::uint64_t{group - tile * s.bands} << s.log_lines;
    length = of.length - begin < 1u << s.log_length ? static_cast<unsigned>(of.length - begin) : 1u << s.log_length;
    present = of.count - line < 1u << s.log_lines ? static_cast<unsigned>(of.count - line) : 1u << s.log_lines;
  }

  template <class T>
  __device__ T* in(T* matrix, const registry::lines& of) const {
    return matrix + begin * of.element + line * of.line;
  }
};

/// What a thread works on: `count` elements of run `number` of `line`; element i of it is at
/// stage[place(first + i * step)].
struct own_run {
  unsigned line, number, count, first, step;

  __device__ own_run(const tile_shape& s, const tile_place& p) {
    const unsigned me = threadIdx.x;
    number = me >> s.first_bit() & (s.runs() - 1);
    line = s.by_rows ? me >> s.end_bit() : me & ((1u << s.log_lines) - 1);
    const unsigned begin = number << s.log_run, length = line < p.present && begin < p.length ? p.length - begin : 0;
    count = length < 1u << s.log_run ? length : 1u << s.log_run;
    step = s.by_rows ? 1 : s.pitch;
    first = s.by_rows ? line * s.pitch + begin : begin * s.pitch + line;
  }

  /// Whether its elements have places one after another.
  __device__ bool is_aligned() const { return count == items && step == 1 && first % items == 0; }
};

/// Whether threads read and write their runs directly in memory: if lines side by side fill whole sectors.
template <class T>
__device__ bool is_direct(const tile_shape& s) {
  return !s.by_rows && sizeof(T) << s.log_lines >= 32;
}

/// The address of element i of the stage in a matrix with gaps; null if there is no such element.
template <class T>
__device__ T* between_gaps(const tile_shape& s, const registry::lines& of, const tile_place& p, T* tile, unsigned i) {
  const unsigned log_pitch = s.by_rows ? s.log_length : s.log_lines, major = i >> log_pitch, minor = i & (s.pitch - 1);
  const unsigned e = s.by_rows ? minor : major, l = s.by_rows ? major : minor;
  return e < p.length && l < p.present ? tile + e * of.element + l * of.line : nullptr;
}

/// Elements that move as one.
template <class T, unsigned Length>
struct alignas(Length * sizeof(T)) unit {
  T at[Length];
};

/// Calls `move(k, i)` for each unit of a contiguous tile that is this thread's: its k-th one begins at element i.
template <unsigned Length, class F>
__device__ void for_each_unit(unsigned elements, const F& move) {
#pragma unroll
  for (unsigned k = 0; k < items / Length; ++k) {
    const unsigned i = (k * group_size + threadIdx.x) * Length;
    if (i < elements) move(k, i);
  }
}

/// All loads are in flight before the first value is staged.
template <unsigned Length, class T>
__device__ void load_units(const T* from, unsigned elements, T* stage) {
  unit<T, Length> loaded[items / Length];
  for_each_unit<Length>(
      elements, [&](unsigned k, unsigned i) { loaded[k] = *reinterpret_cast<const unit<T, Length>*>(from + i); });
  for_each_unit<Length>(elements, [&](unsigned k, unsigned i) {
#pragma unroll
    for (unsigned e = 0; e < Length; ++e) stage[place<T>(i) + e] = loaded[k].at[e];
  });
}

template <unsigned Length, class T>
__device__ void store_units(const T* stage, unsigned elements, T* to) {
  for_each_unit<Length>(elements, [&](unsigned, unsigned i) {
    unit<T, Length> values;
#pragma unroll
    for (unsigned e = 0; e < Length; ++e) values.at[e] = stage[place<T>(i) + e];
    *reinterpret_cast<unit<T, Length>*>(to + i) = values;
  });
}

/// Whether a contiguous tile can move by packs of 16 bytes.
template <class T>
__device__ bool has_packs(const T* tile, unsigned elements) {
  return reinterpret_cast<std::uintptr_t>(tile) % 16 == 0 && elements % backend::cuda::pack_length<T> == 0;
}

template <class T>
__device__ void load_stage(const tile_shape& s, const registry::lines& of, const tile_place& p, const T* matrix,
                           T* stage) {
  const T* const from = p.in(matrix, of);
  const unsigned elements = p.present * p.length;
  if (s.is_contiguous && has_packs(from, elements)) {
    load_units<backend::cuda::pack_length<T>>(from, elements, stage);
  } else if (s.is_contiguous) {
    load_units<1>(from, elements, stage);
  } else {
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < tile_elements; i += group_size)
      if (const T* const one = between_gaps(s, of, p, from, i)) stage[place<T>(i)] = *one;
  }
  __syncthreads();
}

template <class T>
__device__ void store_stage(const tile_shape& s, const registry::lines& of, const tile_place& p, const T* stage,
                            T* matrix) {
  __syncthreads();
  T* const to = p.in(matrix, of);
  const unsigned elements = p.present * p.length;
  if (s.is_contiguous && has_packs(to, elements)) {
    store_units<backend::cuda::pack_length<T>>(stage, elements, to);
  } else if (s.is_contiguous) {
    store_units<1>(stage, elements, to);
  } else {
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < tile_elements; i += group_size)
      if (T* const one = between_gaps(s, of, p, to, i)) *one = stage[place<T>(i)];
  }
}

/// The thread's run in memory.
template <class T>
__device__ T* run_in(T* matrix, const registry::lines& of, const tile_shape& s, const tile_place& p,
                     const own_run& at) {
  return p.in(matrix, of) + (std::uint64_t{at.number} << s.log_run) * of.element + at.line * of.line;
}

/// The run from where its elements are, with the identity for those that are missing.
template <class Op, class T>
__device__ void take_run(const tile_shape& s, const registry::lines& of, const tile_place& p, const own_run& at,
                         const T* matrix, const T* stage, T (&x)[items]) {
  if (is_direct<T>(s)) {
    const T* const from = run_in(matrix, of, s, p, at);
#pragma unroll
    for (unsigned i = 0; i < items; ++i) x[i] = i < at.count ? from[i * of.element] : Op::template identity<T>();
  } else if (at.is_aligned()) {
#pragma unroll
    for (unsigned i = 0; i < items; ++i) x[i] = stage[place<T>(at.first) + i];
  } else {
#pragma unroll
    for (unsigned i = 0; i < items; ++i)
      x[i] = i < at.count ? stage[place<T>(at.first + i * at.step)] : Op::template identity<T>();
  }
}

/// The block of 1, 2 or 4 values that are `apart`.
template <class Op, class T>
__device__ T block_of(const T* first, unsigned count, unsigned apart) {
  if (count == 1) return *first;
  const T two = Op::template apply<T>(first[0], first[apart]);
  if (count == 2) return two;
  return Op::template apply<T>(two, Op::template apply<T>(first[2 * apart], first[3 * apart]));
}

/// Combines the values of a line's runs to the line's value. For each bit that is set in the run's number, `left` gets
/// the value of the neighbouring block on the left; for other bits it gets the identity.
template <class Op, class T>
__device__ T meet(const tile_shape& s, T value, T (&left)[log_group], T* values) {
  const unsigned first = s.first_bit(), end = s.end_bit();
#pragma unroll
  for (unsigned bit = 0; bit < log_warp; ++bit) {
    const T other = __shfl_xor_sync(all_lanes, value, 1u << bit);
    const bool meets = bit >= first && bit < end;
    left[bit] = meets ? other : Op::template identity<T>();
    if (meets) value = Op::template apply<T>(value, other);
  }
  if (end > log_warp) {
    values[threadIdx.x] = value;
    __syncthreads();
  }
  const unsigned least = first > log_warp ? first : log_warp;  // from this bit on, runs are in different warps
#pragma unroll
  for (unsigned bit = log_warp; bit < log_group; ++bit) {
    left[bit] = Op::template identity<T>();
    if (bit < first || bit >= end) continue;
    const unsigned sibling = (threadIdx.x ^ 1u << bit) & ~((1u << bit) - (1u << least));
    left[bit] = block_of<Op>(values + sibling, 1u << (bit - least), 1u << least);
    value = Op::template apply<T>(value, left[bit]);
  }
  return value;
}

/// The prefix before the run, if `before` is the prefix before the tile.
template <class Op, class T>
__device__ T prefix_of_run(T before, const T (&left)[log_group]) {
#pragma unroll
  for (unsigned bit = log_group; bit-- > 0;)
    if ((threadIdx.x >> bit & 1) != 0) before = Op::template apply<T>(before, left[bit]);
  return before;
}

}  // namespace tilewise::impl::reduce_axis
