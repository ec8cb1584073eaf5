// SPDX-License-Identifier: Apache-2.0
// What:   one pass of radix sort over memory: each element is read once and written once, to where its digit belongs.
// Order:  stable; an element's place is the number of smaller digits, plus equal digits in earlier tiles, plus its rank
//         in its own tile.
// Shape:  groups draw tiles in order. A tile's digits are counted first and the counts published, so that other tiles
//         need not wait for ranks; then keys are ranked and gathered by digit in shared memory; one lane per digit
//         looks back over earlier tiles' counts until it meets a sum over all of them; then runs of a digit are written
//         together.
// Limits: a launch takes one portion of the input, in which counts fit 30 bits. Nothing is read where it is written.
// Twins:  sort_onesweep.cl.
#pragma once

#include "sort/sort_cuda_radix_plan.cuh"

namespace tilewise::impl::sort::on_cuda {

template <class Bits, class Value, unsigned Warps, unsigned Rows>
struct sweep_shared {
  static constexpr unsigned tile = Warps * Rows * warp_size;
  Bits keys[tile];
  Value values[moves<Value> ? tile : 1];
  std::uint64_t to[digit_values];        // place in memory, less place in the tile
  unsigned counts[Warps][digit_values];  // then places in the tile
  unsigned sums[digit_values / warp_size];
  unsigned drawn;
};

/// One launch's part of the sort.
struct sweep_launch {
  unsigned pass, portion;
  bool again;  // one of the passes that run only when radix_plan::again says so
};

// What is published for a digit: 30 bits of count under one of these.
inline constexpr unsigned of_tile = 1u << 30, of_all = 2u << 30, count_mask = of_tile - 1;

/// The number of keys with this thread's digit in the tiles before `tile`; `row` is the tile's in the table.
__device__ inline unsigned look_back(const unsigned* row, unsigned tile) {
  constexpr unsigned ahead = 4;  // reads in flight
  unsigned sum = 0;
  while (tile > 0) {
    unsigned seen[ahead];
#pragma unroll
    for (unsigned k = 0; k < ahead; ++k)
      seen[k] = k < tile ? *reinterpret_cast<const volatile unsigned*>(row - (k + 1) * std::int64_t{digit_values}) : 0;
#pragma unroll
    for (unsigned k = 0; k < ahead; ++k) {
      if (seen[k] == 0) break;
      sum += seen[k] & count_mask;
      if ((seen[k] & of_all) != 0) return sum;
      --tile;
      row -= digit_values;
    }
  }
  return sum;
}

/// Publishes the count of this thread's digit, sums it over all earlier tiles, and notes where the digit's run goes.
template <class Work>
__device__ std::uint64_t place_run(const Work& w, const sweep_launch& l, unsigned digit_index, unsigned* row,
                                   unsigned tile, unsigned count) {
  const unsigned before = look_back(row, tile);
  if (tile != 0) *reinterpret_cast<volatile unsigned*>(row) = of_all | (before + count);
  std::uint64_t* const base = w.base(digit_index, l.portion) + threadIdx.x;
  if (l.portion + 1 < w.portions && tile + 1 == w.tiles_of(l.portion)) base[digit_values] = *base + before + count;
  return *base + before;
}

template <class Bits, class Value, unsigned Warps, unsigned Rows, unsigned Groups>
__global__ void __launch_bounds__(Warps* warp_size, Groups)
    sweep_tiles(const radix_work<Bits, Value, Warps * Rows * warp_size> w, const sweep_launch l) {
  using shared = sweep_shared<Bits, Value, Warps, Rows>;
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& s = *reinterpret_cast<shared*>(bytes);
  const sweep_pass<Bits, Value> pass = w.pass_of(l);
  if (!pass.runs) return;
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, digit = threadIdx.x;
  const unsigned in_tile = warp * Rows * warp_size + lane, tiles = w.tiles_of(l.portion);
  for (;;) {
    if (threadIdx.x == 0) s.drawn = atomicAdd(w.ticket(l), 1);
    for (unsigned i = lane; i < digit_values; i += warp_size) s.counts[warp][i] = 0;
    __syncthreads();  // the tile is drawn; the last one's shared memory is free
    const unsigned tile = s.drawn;
    if (tile >= tiles) return;
    const std::uint64_t begin = w.begin_of(l.portion) + std::uint64_t{tile} * shared::tile;
    const unsigned length = static_cast<unsigned>(min(std::uint64_t{shared::tile}, w.task.n - begin));

    Bits key[Rows];
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
      const unsigned i = in_tile + r * warp_size;
      key[r] = i < length ? pass.with.loaded(pass.from.keys[begin + i]) : ~Bits{0};  // past the end: sorted last
    }
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) atomicAdd(&s.counts[warp][digit_of(key[r], pass.shift)], 1);
    __syncthreads();  // all warps have counted

    unsigned* const row = w.states(pass.sequence) + std::uint64_t{tile} * digit_values + digit;
    unsigned count = 0;
    if (digit < digit_values) {
      count = sum_of_warps(s.counts, digit);
      *reinterpret_cast<volatile unsigned*>(row) = (tile == 0 ? of_all : of_tile) | count;
      for (std::uint64_t r = tile; r < w.most_tiles; r += tiles)
        w.states(pass.sequence + 1)[r * digit_values + digit] = 0;
    }
    const unsigned first = sum_before(count, s.sums);
    if (digit < digit_values) to_places(s.counts, digit, first);
    __syncthreads();  // every warp has its places

    unsigned place[Rows];
    place_in_warp(key, pass.shift, s.counts[warp], place);
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
      const unsigned i = in_tile + r * warp_size;
      s.keys[place[r]] = key[r];
      if constexpr (moves<Value>)
        if (i < length) s.values[place[r]] = load_value(pass.from.values, begin + i);
    }
    if (digit < digit_values) s.to[digit] = place_run(w, l, pass.shift / digit_bits, row, tile, count) - first;
    __syncthreads();  // keys are in order, and every run has its place

    // All keys are read before any is stored: the compiler cannot know that a store leaves the tile alone.
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) key[r] = s.keys[threadIdx.x + r * Warps * warp_size];
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
      const unsigned i = threadIdx.x + r * Warps * warp_size;
      if (i >= length) break;
      const std::uint64_t to = s.to[digit_of(key[r], pass.shift)] + i;
      pass.to.keys[to] = pass.with.stored(key[r]);
      if constexpr (moves<Value>) pass.to.values[to] = s.values[i];
    }
  }
}

}  // namespace tilewise::impl::sort::on_cuda
