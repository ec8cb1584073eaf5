// SPDX-License-Identifier: Apache-2.0
// What:   merges neighbouring runs in a group's shared memory; each lane merges a piece of equal length.
// Order:  where codes are equal, those of the left run come first.
// Shape:  the right run lies backwards after the left one. So the cursor of an exhausted run reaches the greatest
//         element of the other run, and no step has to check where a run ends. A lane merges into registers and stores
//         its piece when all lanes have read. Values stay in memory meanwhile; only their places move, as 16-bit
//         numbers.
// Limits: a tile is shorter than the memory by one lane's elements, so that it can be cut in two anywhere and both
//         parts begin with a new lane.
// Twins:  opencl/merge.cl, sort_axis/opencl/program.cl.
//
// Source: Green, McColl, Bader, GPU Merge Path: A GPU Merging Algorithm, ICS 2012.
#pragma once

#include "backend/cuda/warp.cuh"
#include "sort/cuda/elements.cuh"
#include "sort/cuda/merge_network.cuh"

#include <bit>

namespace tilewise::impl::sort::on_cuda {

/// Tiles are a little longer than this: passes merge four runs, so 4^k elements need no pass for a small rest.
inline constexpr unsigned least_tile = 4096;

/// Elements of a lane: fewer if an element takes more registers. The number is odd, so that lanes that step through
/// their pieces use different banks.
template <class Bits, class Value>
inline constexpr unsigned most_held = moves<Value>        ? 9
                                      : sizeof(Bits) == 8 ? 17
                                                          : 33;

template <class Bits, class Value, unsigned Held = most_held<Bits, Value>>
struct merge_tile {
  static constexpr unsigned held = Held;
  static constexpr unsigned group_size = std::bit_floor(least_tile / (held - 1));
  static constexpr unsigned room = group_size * held, length = room - held;
  /// How many groups a compute unit must have room for. Without this limit the compiler uses too many registers.
  static constexpr unsigned groups = sizeof(Bits) == 8 ? (moves<Value> ? 3 : 5) : (moves<Value> ? 4 : 8);

  using slot = std::conditional_t<(value_bytes<Value> > sizeof(Bits)), Value, Bits>;
  using piece = held_elements<Bits, Value, Held>;

  // With room before and after, where a cursor may read values that are not used.
  slot slots[held + room + held];
  unsigned short places[moves<Value> ? held + room + held : 1];

  __device__ Bits* keys() { return reinterpret_cast<Bits*>(slots) + held; }
  __device__ unsigned short* from() { return places + held; }             // each key's old place
  __device__ Value* values() { return reinterpret_cast<Value*>(slots); }  // once the keys are gone
};

/// Two runs in a tile: the left one ascends from slot `begin` on, the right one descends to slot `end` - 1.
struct facing_runs {
  unsigned begin, left, right, end;  // left and right are lengths
};

/// How many of the first `diagonal` merged elements come from the left run.
template <class Bits>
__device__ unsigned merge_path(const Bits* keys, const facing_runs& runs, unsigned diagonal) {
  unsigned low = diagonal > runs.right ? diagonal - runs.right : 0, high = min(diagonal, runs.left);
  const Bits *left = keys + runs.begin, *right = keys + runs.end - diagonal;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (left[middle] <= right[middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Merges the lane's piece, from `diagonal` on. `own.from` receives the slots.
template <class Bits, class Value, unsigned Held>
__device__ void merge_piece(merge_tile<Bits, Value, Held>& tile, const facing_runs& runs, unsigned diagonal,
                            held_elements<Bits, Value, Held>& own) {
  const Bits* const keys = tile.keys();
  const unsigned taken = merge_path(keys, runs, diagonal);
  // Signed, since b may go below 0 after the last element.
  int a = static_cast<int>(runs.begin + taken), b = static_cast<int>(runs.end - 1 - (diagonal - taken));
  const int a_end = static_cast<int>(runs.begin + runs.left);
  Bits next_a = keys[a], next_b = keys[b];
#pragma unroll
  for (unsigned i = 0; i < Held; ++i) {
    // Past its end the left run shows the right one's greatest code, which only matters where a value goes with it.
    const bool left = next_a <= next_b && (!moves<Value> || a < a_end);
    own.key[i] = left ? next_a : next_b;
    if constexpr (moves<Value>) own.from[i] = static_cast<unsigned short>(left ? a : b);
    if (i + 1 == Held) break;
    a += left, b -= !left;
    const Bits read = keys[left ? a : b];
    next_a = left ? read : next_a;
    next_b = left ? next_b : read;
  }
}

/// Converts the slots of a merged piece to the original places of its elements.
template <class Bits, class Value, unsigned Held>
__device__ void look_up_places(merge_tile<Bits, Value, Held>& tile, held_elements<Bits, Value, Held>& own) {
  if constexpr (moves<Value>) {
#pragma unroll
    for (unsigned i = 0; i < Held; ++i) own.from[i] = tile.from()[static_cast<short>(own.from[i])];
  }
}

/// Puts a piece into the tile from slot `first` on, forwards or backwards.
template <class Bits, class Value, unsigned Held>
__device__ void put_back(merge_tile<Bits, Value, Held>& tile, const held_elements<Bits, Value, Held>& own,
                         unsigned first, bool backwards) {
#pragma unroll
  for (unsigned i = 0; i < Held; ++i) {
    const unsigned slot = backwards ? first - i : first + i;
    tile.keys()[slot] = own.key[i];
    if constexpr (moves<Value>) tile.from()[slot] = own.from[i];
  }
}

/// A barrier for `lanes` neighbouring lanes, a power of two.
__device__ inline void synchronize(unsigned lanes) {
  if (lanes <= warp_size)
    __syncwarp();
  else
    __syncthreads();
}

/// Sorts the tile's `room` keys, or the keys of every `run_lanes` lanes (a power of two) by themselves. Leaves each
/// key's original place in from().
template <class Bits, class Value, unsigned Held>
__device__ void sort_tile(merge_tile<Bits, Value, Held>& tile,
                          unsigned run_lanes = merge_tile<Bits, Value, Held>::group_size) {
  constexpr unsigned held = Held;
  const unsigned t = threadIdx.x;
  held_elements<Bits, Value, Held> own;
#pragma unroll
  for (unsigned i = 0; i < held; ++i) {
    own.key[i] = tile.keys()[t * held + i];
    if constexpr (moves<Value>) own.from[i] = static_cast<unsigned short>(t * held + i);
  }
  sort_held(own);
  const bool is_right = run_lanes > 1 && t % 2 != 0;
  put_back(tile, own, is_right ? t * held + held - 1 : t * held, is_right);
  __syncwarp();
#pragma unroll 1
  for (unsigned lanes = 1; lanes < run_lanes; lanes *= 2) {
    const unsigned pair = t & ~(2 * lanes - 1), diagonal = (t - pair) * held;
    const facing_runs runs{pair * held, lanes * held, lanes * held, (pair + 2 * lanes) * held};
    merge_piece(tile, runs, diagonal, own);
    look_up_places(tile, own);
    synchronize(2 * lanes);  // the pair's lanes have read
    const bool backwards = 2 * lanes < run_lanes && (t & (2 * lanes)) != 0;
    put_back(tile, own, backwards ? runs.end - 1 - diagonal : runs.begin + diagonal, backwards);
    synchronize(4 * lanes);  // the next pair's runs are stored
  }
}

}  // namespace tilewise::impl::sort::on_cuda
