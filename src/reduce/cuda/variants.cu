// SPDX-License-Identifier: Apache-2.0
// What:   reduce in one launch: groups fold pieces, and the last group to finish folds what they found.
// Order:  n is cut by its binary digits. Its high digits make whole tiles; each digit below a tile is one piece, padded
//         with the identity to a whole tile. So every piece is a block and its value a balanced tree. The tiles'
//         values are in turn cut by the digits of their number, until there is one block value for each digit of n;
//         those are folded from the left. Which group finishes last changes nothing.
// Shape:  a warp takes one chunk at a time, 8 rows of 16 bytes per lane; a tile is one chunk for each warp of a group.
//         Groups are persistent: each takes every gridDim-th piece. Fewer elements than a tile are one group's, which
//         has no other to wait for: its warps take chunks and the blocks of the digits below.
// Limits: none; where x is not aligned to 16 bytes, elements are loaded one by one.
// Twins:  serial.cpp.
#include "backend/cuda/dispatch.hpp"
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "reduce/cuda/chunks.cuh"
#include "reduce/problem.hpp"
#include "registry/variant.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::impl::reduce {

namespace {

using namespace backend::cuda;

// As many as stay on a compute unit with 64 registers each; short-lived groups were 0 to 9 % slower on an H200.
constexpr unsigned lanes_per_unit = 1024;
constexpr unsigned max_warps = 32;  // of a group

/// What one launch works on; `tile_value` extends into the room of fold_tiles.
template <class T>
struct work {
  const T* x;
  std::uint64_t n;
  bool packable;
  unsigned tile_level;
  T* digit;       // the block value of each digit of n below tile_level
  T* tile_value;  // one for each whole tile
  T first;        // the initial value or the identity
  T* out;
  unsigned* ticket;
};

/// The block value of x[0..length), one tile or a shorter power of two, in the first lane of the group.
template <class Op, class T>
__device__ T piece_value(const T* x, std::uint64_t length, bool packable, T* of_warp) {
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, warps = blockDim.x / warp_size;
  const std::uint64_t first = std::uint64_t{warp} * chunk_length<T>;
  const std::uint64_t left = first < length ? length - first : 0;
  const T value = chunk_value<Op>(x + first, min(left, std::uint64_t{chunk_length<T>}), packable);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  return warp == 0 ? warp_tree<Op>(lane < warps ? of_warp[lane] : Op::template identity<T>()) : value;
}

template <class Op, class T>
__device__ void fold_pieces(const work<T>& w, T (&of_warp)[2][max_warps]) {
  const std::uint64_t tiles = w.n >> w.tile_level, in_tiles = tiles << w.tile_level;
  const std::uint64_t pieces = tiles + __popcll(w.n - in_tiles);
  unsigned turn = 0;  // two buffers: a warp may be one piece ahead of the first warp
  for (std::uint64_t piece = blockIdx.x; piece < pieces; piece += gridDim.x, turn ^= 1) {
    if (piece < tiles) {
      const T value = piece_value<Op>(w.x + (piece << w.tile_level), 1ull << w.tile_level, w.packable, of_warp[turn]);
      if (threadIdx.x == 0) w.tile_value[piece] = value;
    } else {
      std::uint64_t rest = w.n - in_tiles;
      for (std::uint64_t before = tiles; before < piece; ++before) rest ^= 1ull << (63 - __clzll(rest));
      const unsigned level = 63 - __clzll(rest);
      const T value = piece_value<Op>(w.x + (w.n - rest), 1ull << level, w.packable, of_warp[turn]);
      if (threadIdx.x == 0) w.digit[level] = value;
    }
  }
}

/// Whether this group is the last to get here; its lanes then see what the others wrote.
__device__ bool is_last(unsigned* ticket) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // the last one resets it to 0
    __threadfence();
  }
  __syncthreads();
  return last;
}

template <class T, class Op>
__global__ void __launch_bounds__(max_warps* warp_size) fold(work<T> w) {
  __shared__ T of_warp[2][max_warps];
  __shared__ T digit[digit_count];
  fold_pieces<Op>(w, of_warp);
  if (!is_last(w.ticket)) return;
  for (unsigned i = threadIdx.x; i < w.tile_level; i += blockDim.x)
    if ((w.n >> i & 1) != 0) digit[i] = __ldcg(w.digit + i);
  fold_tiles<Op>(w.n, w.tile_level, w.tile_value, digit);
  __syncthreads();
  if (threadIdx.x != 0) return;
  *w.out = order::canonical(Op::template apply<T>(w.first, fold_digits<Op>(w.n, digit)));
}

/// As `fold`, of fewer elements than a tile of this group has.
template <class T, class Op>
__global__ void __launch_bounds__(max_warps* warp_size)
    fold_part_of_tile(const T* x, unsigned n, bool packable, T first, T* out) {
  __shared__ T of_chunk[max_warps];
  __shared__ T digit[digit_count];
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, warps = blockDim.x / warp_size;
  const unsigned chunks = n >> chunk_level<T>, rest = n % chunk_length<T>;
  for (unsigned block = warp; block < chunks + __popc(rest); block += warps) {
    unsigned level = chunk_level<T>, begin = block << level;
    if (block >= chunks) {
      unsigned left = rest;
      for (unsigned before = chunks; before < block; ++before) left ^= 1u << (31 - __clz(left));
      level = 31 - __clz(left);
      begin = n - left;
    }
    const T value = chunk_value<Op>(x + begin, 1u << level, packable);
    if (lane == 0) (block < chunks ? of_chunk[block] : digit[level]) = value;
  }
  __syncthreads();  // all blocks have their values
  fold_few<Op>(chunks, chunk_level<T>, of_chunk, digit);
  __syncthreads();  // and all digits
  if (threadIdx.x == 0) *out = order::canonical(Op::template apply<T>(first, fold_digits<Op>(n, digit)));
}

template <class T, class Op>
T first_of(const registry::problem& p) {
  if (has_init(p)) return init_of<T>(p);
  return p.n() == 0 && Op::id == op::sum ? T(0) : Op::template identity<T>();
}

template <class T, class Op>
void launch(const registry::problem& p, const registry::bindings& where, unsigned group_size, queue& q) {
  const T* const x = where.in[0].as<const T>();
  const unsigned tile_level = chunk_level<T> + static_cast<unsigned>(std::bit_width(group_size / warp_size)) - 1;
  const std::uint64_t tiles = p.n() >> tile_level;
  const T first = first_of<T, Op>(p);
  T* const out = where.out[0].as<T>();
  if (tiles == 0) {
    fold_part_of_tile<T, Op>
        <<<1, group_size, 0, q.stream()>>>(x, static_cast<unsigned>(p.n()), is_packable(x), first, out);
    TW_CUDA(cudaGetLastError());
    return;
  }
  const std::uint64_t pieces = tiles + static_cast<unsigned>(std::popcount(p.n() - (tiles << tile_level)));
  const std::uint64_t resident = std::uint64_t{q.device().info().compute_units} * (lanes_per_unit / group_size);
  const unsigned groups = static_cast<unsigned>(std::min(pieces, resident));
  const backend::buffer workspace(q, (digit_count + tile_value_room(tiles)) * sizeof(T));
  T* const digit = workspace.as<T>();
  const work<T> w{x, p.n(), is_packable(x), tile_level, digit, digit + digit_count, first, out, q.ticket()};
  fold<T, Op><<<groups, group_size, 0, q.stream()>>>(w);
  TW_CUDA(cudaGetLastError());
}

// 512 on an H200: 2 % faster than 256 for 2^28 doubles, 6 % slower for 10^6 floats.
constexpr std::array<unsigned, 5> group_sizes{64, 128, 256, 512, 1024};
constexpr std::array<registry::tuning_axis, 1> axes{{{"group_size", group_sizes, 512}}};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [group_size] = t.of(axes);
  with_type_and_operator(p.type, operation_of(p),
                         [&]<class T, class Op>(T, Op) { launch<T, Op>(p, where, group_size, enter(q)); });
}

}  // namespace

std::vector<registry::variant> reduce_cuda_variants() {
  return {{.algorithm = "reduce",
           .backend = "cuda",
           .name = "two_phase",
           .types = all_dtypes,
           .source = "Harris, Optimizing Parallel Reduction in CUDA, NVIDIA 2007",
           .tuning = axes,
           .run = run}};
}

}  // namespace tilewise::impl::reduce
