// SPDX-License-Identifier: Apache-2.0
// What:   the scan of an array that all compute units hold at once: one tile per group, loaded directly into registers.
// Order:  lookback.cu.
// Shape:  the last warp draws the tile, publishes its value and looks back. Each other warp loads its chunk, and writes
//         it once the carry is known. A tile waits only for its own loads and for older tiles.
// Limits: those of lookback.cu; fewer than 2^31 tiles, drawn in ascending order (nodes.cuh).
// Twins:  serial.cpp, opencl/lookback.cl.
#pragma once

#include "backend/cuda/pipeline.cuh"
#include "scan/cuda/tiles.cuh"

namespace tilewise::impl::scan::on_cuda {

inline constexpr unsigned once_chunks = 8;  // 16 are 2 % slower on an H200 at 2^20 doubles, 4 up to 14 % at other sizes
inline constexpr unsigned once_threads = (once_chunks + 1) * warp_size;

/// Not inlined: within the kernel, it would leave ptxas no predicate registers for the rest.
template <class Op, class T>
__device__ __noinline__ carry_pair<T> publish_and_look_back(node_table nodes, unsigned epoch, std::uint64_t tile, T own,
                                                            T first) {
  publish_completed<Op>(nodes, epoch, tile, own);
  return look_back<Op>(nodes, epoch, tile, own, first);
}

/// A barrier of the whole group, which warps may call from different places in the code. synccheck reports this as an
/// error. But a kernel with a common place for all warps takes 2 to 4 % longer, and 25 % if it needs so many registers
/// that fewer tiles fit.
__device__ inline void meet() { asm volatile("bar.sync 0;" ::: "memory"); }

template <class T>
struct once_shared {
  T chunk_value[once_chunks];
  carry_pair<T> carry;
  std::uint64_t drawn;
};

template <class T, class Op>
__device__ void scout_once(const work<T, Op>& w, once_shared<T>& s) {
  const unsigned lane = threadIdx.x % warp_size;
  if (lane == 0) s.drawn = draw(w.counter, w.tiles);
  meet();  // the tile is drawn
  const std::uint64_t tile = static_cast<unsigned>(s.drawn);
  const unsigned epoch = static_cast<unsigned>(s.drawn >> 32) + 1;
  const T first = w.ends == nullptr ? Op::template identity<T>() : recoded(w, w.ends[0]);
  meet();  // its chunks' values are stored
  const T own = warp_tree<Op, once_chunks>(s.chunk_value[lane % once_chunks]);
  if (lane == 0) send(sibling<T>(w.nodes, 0, tile, digit_of(tile, 0)), own, epoch);
  const carry_pair<T> carry = publish_and_look_back<Op>(w.nodes, epoch, tile, own, first);
  if (lane == 0) s.carry = carry;
  meet();  // the carry is stored
}

template <class T, class Op>
__device__ void scan_chunk_once(const work<T, Op>& w, once_shared<T>& s, unsigned chunk) {
  const unsigned lane = threadIdx.x % warp_size;
  meet();  // the tile is drawn
  const std::uint64_t tile = static_cast<unsigned>(s.drawn);
  std::uint64_t at = tile * tile_length<T, once_chunks> + chunk * chunk_length<T> + lane * pack_length<T>;
  pack<T> x[rows];
  if (w.packable_in && is_whole<T, Op, once_chunks>(w, tile)) {
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) x[r] = load_pack(w.x + at + r * row_length<T>);
  } else {
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) x[r] = load_pack_part<Op>(w.x, at + r * row_length<T>, w.n);
  }
#pragma unroll
  for (unsigned r = 0; r < rows; ++r) recode(w, x[r]);  // no result depends on elements beyond the end
  T row_value, chunk_value;
  values_of_chunk<T, Op>(x, row_value, chunk_value);
  if (lane == 0) s.chunk_value[chunk] = chunk_value;
  meet();  // the chunks' values are stored
  const T of_lane = s.chunk_value[lane % once_chunks];
  meet();  // the carry is stored
  finish_chunk<T, Op, once_chunks>(w, tile, chunk, x, of_lane, row_value, s.carry);
}

template <class T, class Op>
__global__ void __launch_bounds__(once_threads) once(const work<T, Op> w) {
  if constexpr (!has_pipeline) {
    __trap();
  } else {
    __shared__ once_shared<T> s;
    const unsigned warp = warp_of_group();
    if (warp == once_chunks)
      scout_once(w, s);
    else
      scan_chunk_once(w, s, warp);
  }
}

}  // namespace tilewise::impl::scan::on_cuda
