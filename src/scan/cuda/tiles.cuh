// SPDX-License-Identifier: Apache-2.0
// What:   a tile in one-pass scans: the operands, the values of its chunks, and its outputs from its carry.
// Order:  a row of a chunk, a chunk and a tile are blocks of the tree; a downsweep from the carry gives every P(i).
// Shape:  a tile is one chunk for each of a group's warps that write; a lane holds 128 bytes of its chunk.
// Limits: none.
// Twins:  opencl/lookback.cl.
#pragma once

#include "scan/cuda/nodes.cuh"
#include "scan/cuda/shared.cuh"

namespace tilewise::impl::scan::on_cuda {

using namespace backend::cuda;

inline constexpr unsigned rows = 8;  // rows of a chunk
template <class T>
inline constexpr unsigned chunk_length = rows* row_length<T>;
template <class T, unsigned Chunks>
inline constexpr unsigned tile_length = Chunks* chunk_length<T>;

/// For integers, min and max share one kernel per width: the max of unsigned codes. The codes x ^ code_of are in the
/// order of the elements for max, and in the reverse order for min. The identity is the code 0.
template <class T, class Op>
inline constexpr bool has_codes = std::is_integral_v<T>&& Op::id == op::max;
template <class T>
T code_of(const registry::problem& p) {
  const bool is_signed = p.type == dtype::i32 || p.type == dtype::i64;
  const T sign = T{is_signed} << (8 * sizeof(T) - 1);
  return operation_of(p) == op::max ? sign : ~sign;
}

template <class T, class Op>
struct work {
  const T* x;
  T* out;
  std::uint64_t n, tiles;
  bool packable_in, packable_out;
  output_rule<T, Op> rule;
  std::uint64_t* counter;  // epoch in the high half, tiles drawn in the low one
  node_table nodes;
  T code;         // see has_codes
  const T* ends;  // see carry_of
};

template <class T, class Op, unsigned Chunks>
__device__ bool is_whole(const work<T, Op>& w, std::uint64_t tile) {
  return (tile + 1) * tile_length<T, Chunks> <= w.n;
}

/// Converts elements to codes, or back.
template <class T, class Op>
__device__ T recoded(const work<T, Op>& w, T value) {
  if constexpr (has_codes<T, Op>) value ^= w.code;
  return value;
}
template <class T, class Op>
__device__ void recode(const work<T, Op>& w, pack<T>& values) {
#pragma unroll
  for (unsigned i = 0; i < pack_length<T>; ++i) values.at[i] = recoded(w, values.at[i]);
}

/// Computes the values of a chunk and of its rows. Lane l gets that of row l % rows.
template <class T, class Op>
__device__ void values_of_chunk(const pack<T> (&x)[rows], T& row_value, T& chunk_value) {
  T row[rows];
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) row[i] = tree_of<Op, pack_length<T>>(x[i].at);
  row_value = rows_tree<Op, rows>(row);
  chunk_value = warp_tree<Op, rows>(row_value);
}

/// Writes one row from the prefixes before and after it.
template <class T, class Op>
__device__ void finish_row(const work<T, Op>& w, const pack<T>& x, T before, T after, std::uint64_t first,
                           bool packed) {
  T p[pack_length<T> + 1];
  prefixes<Op, pack_length<T>>(x.at, lanes_prefix<Op>(tree_of<Op, pack_length<T>>(x.at), before), p);
  p[pack_length<T>] = __shfl_down_sync(all_lanes, p[0], 1);
  if (threadIdx.x % warp_size == warp_size - 1) p[pack_length<T>] = after;
  pack<T> y;
#pragma unroll
  for (unsigned i = 0; i < pack_length<T>; ++i) y.at[i] = w.rule(w.rule.shift != 0 ? p[i + 1] : p[i]);
  recode(w, y);
  if (packed) {
    __stcs(reinterpret_cast<uint4*>(w.out + first), __builtin_bit_cast(uint4, y));
  } else {
#pragma unroll
    for (unsigned i = 0; i < pack_length<T>; ++i)
      if (first + i < w.n) w.out[first + i] = y.at[i];
  }
}

/// Writes the last output of a part of a longer array again, if it belongs to this lane. The lane has the packs that
/// begin at `first` and a row further each.
template <class T, class Op>
__device__ void finish_part(const work<T, Op>& w, std::uint64_t first) {
  if (w.ends == nullptr || w.rule.shift == 0) return;
  const std::uint64_t further = w.n - 1 - first;  // wraps to a huge number if the lane is beyond the last output
  if (further < rows * row_length<T> && further % row_length<T> < pack_length<T>)
    w.out[w.n - 1] = recoded(w, w.rule(recoded(w, w.ends[1])));
}

/// One warp writes its chunk. `chunk_value` is that of chunk lane % Chunks, `row_value` that of row lane % rows.
template <class T, class Op, unsigned Chunks>
__device__ void finish_chunk(const work<T, Op>& w, std::uint64_t tile, unsigned chunk, const pack<T> (&x)[rows],
                             T chunk_value, T row_value, const carry_pair<T>& carry) {
  const T before_chunks = lanes_prefix<Op, Chunks>(chunk_value, carry.at);
  const T before_next = __shfl_sync(all_lanes, before_chunks, (chunk + 1) % Chunks);
  const T after_chunk = chunk + 1 < Chunks ? before_next : carry.next;
  const T before_rows = lanes_prefix<Op, rows>(row_value, __shfl_sync(all_lanes, before_chunks, chunk));
  const std::uint64_t first =
      tile * tile_length<T, Chunks> + chunk * chunk_length<T> + threadIdx.x % warp_size * pack_length<T>;
  const bool packed = w.packable_out && is_whole<T, Op, Chunks>(w, tile);
  T before = __shfl_sync(all_lanes, before_rows, 0);
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) {
    const T after = i + 1 < rows ? __shfl_sync(all_lanes, before_rows, i + 1) : after_chunk;
    finish_row(w, x[i], before, after, first + i * row_length<T>, packed);
    before = after;
  }
  finish_part(w, first);
}

}  // namespace tilewise::impl::scan::on_cuda
