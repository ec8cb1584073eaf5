// SPDX-License-Identifier: Apache-2.0
// What:   the nodes of the tree over tiles, which are published in memory, and how a tile computes its carry from them.
// Order:  a node of level l is the block value of 32^l tiles. The carry of tile t is P(t) over tiles: the digits of t
//         in base 32, highest first, each walked by its binary digits.
// Shape:  called by one whole warp; lane i polls sibling i of each level, all levels at once.
// Limits: fewer than 32^levels tiles. Tiles are started in ascending order, and publish their own value before they
//         wait for an older one. So the oldest unfinished tile never waits.
// Twins:  order/block_stack.hpp.
#pragma once

#include "backend/cuda/packet.cuh"
#include "backend/cuda/warp.cuh"

namespace tilewise::impl::scan {

inline constexpr unsigned node_levels = 5;
inline constexpr unsigned node_digit = 5;  // bits of a base-32 digit

/// A node holds a packet, tagged with the launch's number.
template <class T>
inline constexpr unsigned node_words = backend::cuda::packet<T>::words;

struct node_table {
  std::uint64_t* level[node_levels];
};

__device__ inline unsigned digit_of(std::uint64_t tile, unsigned level) {
  return static_cast<unsigned>(tile >> (node_digit * level)) % 32;
}

/// The sibling for lane `lane` on the level: node number `lane` of the 32 siblings that include tile t's node.
template <class T>
__device__ backend::cuda::packet<T>* sibling(const node_table& nodes, unsigned level, std::uint64_t tile,
                                             unsigned lane) {
  return reinterpret_cast<backend::cuda::packet<T>*>(nodes.level[level]) +
         ((tile >> (node_digit * level)) / 32 * 32 + lane);
}

/// The prefix at position `digit` (0 to 31) of 32 neighbours, one per lane. `before` is the prefix before the first.
template <class Op, class T>
__device__ T walk(T value, unsigned digit, T before) {
  T block[node_digit];
#pragma unroll
  for (unsigned bit = 0; bit < node_digit; ++bit) {
    block[bit] = value;
    value = Op::template apply<T>(value, __shfl_xor_sync(backend::cuda::all_lanes, value, 1u << bit));
  }
#pragma unroll
  for (unsigned bit = node_digit; bit-- > 0;) {
    const T left = __shfl_sync(backend::cuda::all_lanes, block[bit], ((digit >> bit) - 1) << bit & 31);
    if (digit >> bit & 1) before = Op::template apply<T>(before, left);
  }
  return before;
}

/// Tile t, whose value is `own`, completes a node for each trailing digit 31 of its number and publishes them.
template <class Op, class T>
__device__ void publish_completed(const node_table& nodes, unsigned epoch, std::uint64_t tile, T own) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned level = 0; level + 1 < node_levels; ++level) {
    if (digit_of(tile, level) != 31) return;
    T value = own;
    for (bool found = lane == 31; !found;) {
      const auto seen = receive(sibling<T>(nodes, level, tile, lane));
      found = seen.is_of(epoch);
      value = seen.value();
    }
    __syncwarp();
    own = backend::cuda::warp_tree<Op>(value);
    if (lane == 0) send(sibling<T>(nodes, level + 1, tile, digit_of(tile, level + 1)), own, epoch);
  }
}

/// P at a tile's start and at its end.
template <class T>
struct carry_pair {
  T at, next;
};

/// The left siblings of tile t on every level, one per lane. Lanes from the tile's own position on get the identity.
template <class Op, class T>
__device__ void gather(const node_table& nodes, unsigned epoch, std::uint64_t tile, T (&value)[node_levels]) {
  const unsigned lane = threadIdx.x % 32;
  unsigned missing = 0;
#pragma unroll
  for (unsigned level = 0; level < node_levels; ++level) {
    value[level] = Op::template identity<T>();
    if (lane < digit_of(tile, level)) missing |= 1u << level;
  }
  while (__any_sync(backend::cuda::all_lanes, missing != 0)) {
#pragma unroll
    for (unsigned level = 0; level < node_levels; ++level) {
      if ((missing >> level & 1) == 0) continue;
      const auto seen = receive(sibling<T>(nodes, level, tile, lane));
      if (!seen.is_of(epoch)) continue;
      value[level] = seen.value();
      missing &= ~(1u << level);
    }
  }
}

/// Waits for the tiles older than tile t, and computes its two carries as folds onto `first`.
template <class Op, class T>
__device__ carry_pair<T> look_back(const node_table& nodes, unsigned epoch, std::uint64_t tile, T own, T first) {
  T value[node_levels], before[node_levels + 1];
  gather<Op>(nodes, epoch, tile, value);
  before[node_levels] = first;
#pragma unroll
  for (unsigned level = node_levels; level-- > 0;) {
    const unsigned digit = digit_of(tile, level);
    before[level] = digit == 0 ? before[level + 1] : walk<Op>(value[level], digit, before[level + 1]);
  }
  // The end: one position further on the lowest level that has one; below it, all 32 neighbours make one block.
  carry_pair<T> carry{before[0], before[0]};
  bool found = false;
#pragma unroll
  for (unsigned level = 0; level < node_levels; ++level) {
    if (found) continue;
    const unsigned digit = digit_of(tile, level);
    if (threadIdx.x % 32 == digit) value[level] = own;
    found = digit != 31;
    if (found)
      carry.next = walk<Op>(value[level], digit + 1, before[level + 1]);
    else
      own = backend::cuda::warp_tree<Op>(value[level]);
  }
  return carry;
}

}  // namespace tilewise::impl::scan
