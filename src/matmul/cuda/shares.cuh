// SPDX-License-Identifier: Apache-2.0
// What:   divides C among up to `sharing_groups` groups per compute unit, into equal shares of the steps of its tiles.
// Order:  one chain per element. If two groups share a tile, the first stores its chains in C, and the second continues
//         them from there. (Stream-K, M. Osama et al., PPoPP 2023, cuts in the same way, but adds the parts' sums.)
// Shape:  the steps of all tiles form one row, which is cut evenly; a group gets the steps between two cuts. If a cut
//         is within a tile, the group on its left computes the first steps of the tile, before its other work. The
//         group on its right computes the other steps, after its other work. A share is at least one tile, so they do
//         not wait for each other (R. McNaughton, Scheduling with deadlines and loss functions, Management Science 6,
//         1959: the wrap-around rule).
// Limits: fewer than 2^31 tiles. Groups draw their numbers, so a group waits only for one that is running or has ended.
// Twins:  none.
#pragma once

#include "backend/cuda/packet.cuh"
#include "matmul/cuda/shared.cuh"

namespace tilewise::impl::matmul {

/// A shape whose tiles are divided into shares for up to `Groups` groups per compute unit. `Speed` is as for other
/// shapes; units with few threads have `FewThreadsPercent` of it.
template <class Shape, unsigned Groups, unsigned Speed, unsigned FewThreadsPercent = 60>
struct shared : Shape {
  static constexpr unsigned sharing_groups = Groups, speed = Speed, few_threads_percent = FewThreadsPercent;
};

struct shares {
  std::uint64_t steps;  // of a tile
  unsigned tiles, groups;
  std::uint64_t* counter;                 // of groups
  backend::cuda::packet<unsigned>* sent;  // by each group, once the first steps of its last tile are in C

  template <class S>
  static shares of(const sizes& s, backend::cuda::queue& q) {
    constexpr std::uint64_t counter_words = 16;  // a cache line of its own
    const std::uint64_t tiles = tiles_of(s, S::rows, S::columns), units = units_of(q.device());
    const std::uint64_t groups = std::min(tiles, groups_that_share<S>(tiles, units) * units);
    std::uint64_t* const words = q.lasting(counter_words + groups);
    return {std::max(ceil_div(s.k, std::uint64_t{S::depth}), std::uint64_t{1}), static_cast<unsigned>(tiles),
            static_cast<unsigned>(groups), words,
            reinterpret_cast<backend::cuda::packet<unsigned>*>(words + counter_words)};
  }
};

/// Some steps of a tile.
struct piece {
  unsigned tile;
  std::uint64_t first, last;

  __device__ bool is_begun() const { return first > 0; }
};

/// This group's share. All threads of the group must call each function together.
class share {
 public:
  __device__ explicit share(const shares& all) : all_(all), waves_((all.tiles / all.groups - 1) * all.groups) {
    __shared__ std::uint64_t drawn;
    if (threadIdx.x == 0) drawn = backend::cuda::draw(all.counter, all.groups);
    __syncthreads();
    me_ = wave_ = static_cast<unsigned>(drawn);
    launch_ = static_cast<unsigned>(drawn >> 32) + 1;
    const std::uint64_t cut = (all.tiles - waves_) * all.steps;
    first_ = cut * me_ / all.groups;
    last_ = cut * (me_ + 1) / all.groups;
  }

  /// Gets the next piece; returns false if there is none. Neighbouring tiles share data in the caches. So as many waves
  /// of whole tiles as possible come first, and only the rest is cut.
  __device__ bool next(piece& p) {
    __syncthreads();  // what the group has shared for the piece before is free
    const std::uint64_t tile = (last_ - 1) / all_.steps, begin = tile * all_.steps;
    if (last_ > first_ && (begin >= first_ || wave_ >= waves_)) {
      p = {waves_ + static_cast<unsigned>(tile), max(begin, first_) - begin, last_ - begin};
      last_ = begin + p.first;
      return true;
    }
    p = {wave_, 0, all_.steps};
    wave_ += all_.groups;
    return p.tile < waves_;
  }

  /// Waits until the first steps of the tile, which another group computes, are in C.
  __device__ void await() const {
    if (threadIdx.x == 0) {
      while (!receive(all_.sent + me_ - 1).is_of(launch_)) continue;
      __threadfence();
    }
    __syncthreads();
  }

  /// If the piece does not finish its tile, announces that its steps are in C.
  __device__ void tell(const piece& p) const {
    if (p.last == all_.steps) return;
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence();
    send(all_.sent + me_, 0u, launch_);
  }

 private:
  const shares& all_;
  const unsigned waves_;  // tiles that this group computes as a whole
  unsigned me_, wave_, launch_;
  std::uint64_t first_, last_;  // of the steps of the other tiles
};

/// Computes this group's share of C, piece by piece. `multiply(tile, piece, chains)` computes the steps of a piece;
/// `load(tile, chains)` and `store(tile, chains)` read the chains from C and write them there.
template <class S, class Chains, class Load, class Multiply, class Store>
__device__ __forceinline__ void make_share(const operands<typename S::T>& o, const shares& all, const Load& load,
                                           const Multiply& multiply, const Store& store) {
  share mine(all);
  for (piece p; mine.next(p);) {
    const tile_place tile = place_of(o, S::rows, S::columns, p.tile);
    Chains chains{};
    if (p.is_begun()) {
      mine.await();
      load(tile, chains);
    }
    multiply(tile, p, chains);
    store(tile, chains);
    mine.tell(p);
  }
}

}  // namespace tilewise::impl::matmul
