// SPDX-License-Identifier: Apache-2.0
// What:   the scan of what all compute units hold at once: a group a tile, straight from memory into registers.
// Order:  scan_cuda_lookback.cu.
// Shape:  the last warp draws the tile, publishes its value and looks back; each other one loads its chunk, and writes
//         it once the carry is there. A tile waits for nothing but its own loads and older tiles.
// Limits: those of scan_cuda_lookback.cu; fewer than 2^31 tiles, drawn in ascending order (scan_cuda_nodes.cuh).
// Twins:  scan_serial.cpp, scan_lookback.cl.
#pragma once

#include "backend/cuda/cuda_pipeline.cuh"
#include "scan/scan_cuda_tiles.cuh"

namespace tilewise::impl::scan::on_cuda {

inline constexpr unsigned once_chunks = 8;  // 16 are 2 % slower on an H200 at 2^20 doubles, 4 up to 14 % at other sizes
inline constexpr unsigned once_threads = (once_chunks + 1) * warp_size;

/// Out of line: within the kernel it leaves ptxas without predicates for the rest.
template <class Op, class T>
__device__ __noinline__ carry_pair<T> publish_and_look_back(node_table nodes, unsigned epoch, std::uint64_t tile, T own,
                                                            T first) {
  publish_completed<Op>(nodes, epoch, tile, own);
  return look_back<Op>(nodes, epoch, tile, own, first);
}

template <class T>
struct once_shared {
  T chunk_value[once_chunks];
  carry_pair<T> carry;
  std::uint64_t drawn;
};

/// Stores the carry for all, when it is known.
template <class T, class Op>
__device__ void scout(const work<T, Op>& w, once_shared<T>& s, std::uint64_t tile, T chunk_of_lane, T first) {
  const unsigned lane = threadIdx.x % warp_size, epoch = static_cast<unsigned>(s.drawn >> 32) + 1;
  const T own = warp_tree<Op, once_chunks>(chunk_of_lane);
  if (lane == 0) send(sibling<T>(w.nodes, 0, tile, digit_of(tile, 0)), own, epoch);
  const carry_pair<T> carry = publish_and_look_back<Op>(w.nodes, epoch, tile, own, first);
  if (lane == 0) s.carry = carry;
}

template <class T, class Op>
__device__ void load_chunk(const work<T, Op>& w, std::uint64_t tile, unsigned chunk, pack<T> (&x)[rows]) {
  const std::uint64_t at =
      tile * tile_length<T, once_chunks> + chunk * chunk_length<T> + threadIdx.x % warp_size * pack_length<T>;
  if (w.packable_in && is_whole<T, Op, once_chunks>(w, tile)) {
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) x[r] = load_pack(w.x + at + r * row_length<T>);
  } else {
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) x[r] = load_pack_part<Op>(w.x, at + r * row_length<T>, w.n);
  }
#pragma unroll
  for (unsigned r = 0; r < rows; ++r) recode(w, x[r]);  // what lies beyond the end is in no block of a result
}

/// All warps meet at the same places, whatever each does between them.
template <class T, class Op>
__global__ void __launch_bounds__(once_threads) once(const work<T, Op> w) {
  if constexpr (!has_pipeline) {
    __trap();
  } else {
    __shared__ once_shared<T> s;
    const unsigned warp = warp_of_group(), lane = threadIdx.x % warp_size;
    const bool is_scout = warp == once_chunks;
    if (is_scout && lane == 0) s.drawn = draw(w, w.tiles);
    __syncthreads();  // the tile is drawn
    const std::uint64_t tile = static_cast<unsigned>(s.drawn);
    pack<T> x[rows];
    T row_value, chunk_value, first;
    if (is_scout) {
      first = w.ends == nullptr ? Op::template identity<T>() : recoded(w, w.ends[0]);
    } else {
      load_chunk(w, tile, warp, x);
      values_of_chunk<T, Op>(x, row_value, chunk_value);
      if (lane == 0) s.chunk_value[warp] = chunk_value;
    }
    __syncthreads();  // the chunks' values are stored
    const T of_lane = s.chunk_value[lane % once_chunks];
    if (is_scout) scout(w, s, tile, of_lane, first);
    __syncthreads();  // the carry is stored
    if (!is_scout) finish_chunk<T, Op, once_chunks>(w, tile, warp, x, of_lane, row_value, s.carry);
  }
}

}  // namespace tilewise::impl::scan::on_cuda
