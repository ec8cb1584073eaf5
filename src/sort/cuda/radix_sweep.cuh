// SPDX-License-Identifier: Apache-2.0
// What:   one pass of radix sort over memory: each element is read once and written once, to where its digit belongs.
// Order:  stable; an element's place is the number of smaller digits, plus equal digits in earlier tiles, plus its rank
//         in its own tile.
// Shape:  groups draw tiles in order; a group draws the next tile while it works on one. A tile's digits are counted
//         first and the counts published, so that other tiles need not wait for ranks. Then keys are ranked, and
//         gathered by digit in shared memory. One lane per digit looks back over the counts of earlier tiles until it
//         finds a sum over all before. Then runs of a digit are written together.
// Limits: a launch takes one portion of the input, in which counts fit 30 bits. Nothing is read where it is written.
// Twins:  opencl/onesweep.cl.
#pragma once

#include "sort/cuda/radix_plan.cuh"

namespace tilewise::impl::sort::on_cuda {

template <class Bits, class Value, unsigned Warps, unsigned Rows>
struct sweep_shared {
  static constexpr unsigned threads = Warps * warp_size, tile = Rows * threads;
  Bits keys[tile];
  Value values[moves<Value> ? tile : 1];
  // Where a digit's run goes, minus its place in the tile.
  Bits* keys_to[digit_values];
  Value* values_to[moves<Value> ? digit_values : 1];
  unsigned counts[Warps][digit_values];  // then places in the tile
  warp_sums<unsigned, Warps> sums;
  unsigned drawn;
};

/// One launch's part of the sort.
struct sweep_launch {
  unsigned pass, portion;
  bool again;  // whether this pass runs only if radix_plan::again is set
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

/// Sums the count of this thread's digit over all earlier tiles, publishes the sum and returns where its run goes.
template <class Work>
__device__ std::uint64_t place_run(const Work& w, const sweep_launch& l, unsigned digit_index, unsigned* row,
                                   unsigned tile, unsigned count) {
  const unsigned before = look_back(row, tile);
  if (tile != 0) *reinterpret_cast<volatile unsigned*>(row) = of_all | (before + count);
  std::uint64_t* const base = w.base(digit_index, l.portion) + threadIdx.x;
  if (l.portion + 1 < w.portions && tile + 1 == w.tiles_of(l.portion)) base[digit_values] = *base + before + count;
  return *base + before;
}

/// The codes of a tile's keys; keys past the end are sorted last. Whole tiles have separate code, since checking each
/// key takes time; so have keys that are codes already.
template <unsigned Tile, class Bits, unsigned Rows>
__device__ __forceinline__ void load_rows(Bits (&key)[Rows], const Bits* from, unsigned in_tile, unsigned length,
                                          const coding<Bits>& with) {
  if (length != Tile) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r)
      key[r] = in_tile + r * warp_size < length ? with.loaded(from[in_tile + r * warp_size]) : ~Bits{0};
    return;
  }
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) key[r] = from[in_tile + r * warp_size];
  if (!with.encodes) return;
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) key[r] = with.code.encode(key[r]);
}

/// Makes the compiler compute values that depend on a key again. Keeping each key's counter in a register, from the
/// count to the ranks, gained less than larger tiles.
template <class Bits>
__device__ __forceinline__ void forget(Bits& key) {
  if constexpr (sizeof(Bits) == 4)
    asm volatile("" : "+r"(key));
  else
    asm volatile("" : "+l"(key));
}

/// Writes the ordered elements. All keys are read before any is stored: otherwise the compiler must assume that a store
/// changes the tile.
template <class Shared, class Bits, class Value, unsigned Rows>
__device__ __forceinline__ void store_rows(const Shared& s, Bits (&key)[Rows], const sweep_pass<Bits, Value>& pass,
                                           unsigned length) {
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) key[r] = s.keys[threadIdx.x + r * Shared::threads];
  const auto store = [&](bool whole, bool decodes) {
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
      const unsigned i = threadIdx.x + r * Shared::threads, digit = digit_of(key[r], pass.shift);
      if (!whole && i >= length) break;
      s.keys_to[digit][i] = decodes ? pass.with.code.decode(key[r]) : key[r];
      if constexpr (moves<Value>) s.values_to[digit][i] = s.values[i];
    }
  };
  if (length != Shared::tile)
    store(false, pass.with.decodes);
  else if (pass.with.decodes)
    store(true, true);
  else
    store(true, false);
}

template <class Bits, class Value, unsigned Warps, unsigned Rows, unsigned Groups>
__global__ void __launch_bounds__(Warps* warp_size, Groups)
    sweep_tiles(const radix_work<Bits, Value, Warps * Rows * warp_size> w, const sweep_launch l) {
  using shared = sweep_shared<Bits, Value, Warps, Rows>;
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& s = *reinterpret_cast<shared*>(bytes);
  unsigned drawn = 0;
  if (threadIdx.x == 0) drawn = atomicAdd(w.ticket(l), 1);  // on its way while the plan is read
  const sweep_pass<Bits, Value> pass = w.pass_of(l);
  if (!pass.runs) return;
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, digit = threadIdx.x;
  const unsigned in_tile = warp * Rows * warp_size + lane, tiles = w.tiles_of(l.portion);
  unsigned* const counts = s.counts[warp];
  for (;;) {
    if (threadIdx.x == 0) s.drawn = drawn;
    for (unsigned i = lane; i < digit_values; i += warp_size) counts[i] = 0;
    __syncthreads();  // the tile is drawn; the last one's shared memory is free
    const unsigned tile = s.drawn;
    if (tile >= tiles) return;
    if (threadIdx.x == 0) drawn = atomicAdd(w.ticket(l), 1);  // the next one
    const std::uint64_t begin = w.begin_of(l.portion) + std::uint64_t{tile} * shared::tile;
    const unsigned length = static_cast<unsigned>(min(std::uint64_t{shared::tile}, w.task.n - begin));

    Bits key[Rows];
    load_rows<shared::tile>(key, pass.from.keys + begin, in_tile, length, pass.with);
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) atomicAdd(&counts[digit_of(key[r], pass.shift)], 1);
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

#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) forget(key[r]);
    unsigned place[Rows];
    Value value[Rows];
    place_in_warp(key, pass.shift, counts, [&](unsigned r, unsigned to) { s.keys[place[r] = to] = key[r]; });
    if constexpr (moves<Value>) {  // loaded while the group looks back
#pragma unroll
      for (unsigned r = 0; r < Rows; ++r)
        if (in_tile + r * warp_size < length) value[r] = load_value(pass.from.values, begin + in_tile + r * warp_size);
    }
    if (digit < digit_values) {
      const std::uint64_t to = place_run(w, l, pass.shift / digit_bits, row, tile, count) - first;
      s.keys_to[digit] = pass.to.keys + to;
      if constexpr (moves<Value>) s.values_to[digit] = pass.to.values + to;
    }
    if constexpr (moves<Value>) {
#pragma unroll
      for (unsigned r = 0; r < Rows; ++r) s.values[place[r]] = value[r];
    }
    __syncthreads();  // elements are in order, and every run has its place
    store_rows(s, key, pass, length);
  }
}

}  // namespace tilewise::impl::sort::on_cuda
