// SPDX-License-Identifier: Apache-2.0
// An array cut into tiles, and what a pass of a radix sort does with them: count, sum up to places, move.
#pragma once

#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "sort/cpu/radix_kernels.hpp"
#include "sort/operands.hpp"

#include <algorithm>

namespace tilewise::impl::sort {

using counts = std::vector<std::uint64_t>;

/// Tiles of one length, the last one shorter.
class sort_tiles {
 public:
  sort_tiles(std::uint64_t n, std::uint64_t shortest, backend::cpu::queue& queue)
      : n_(n),
        queue_(queue),
        length_(std::max(shortest, ceil_div(n, each * queue.threads()))),
        count_(ceil_div(n, length_)) {}

  std::uint64_t n() const { return n_; }
  std::uint64_t length() const { return length_; }
  std::uint64_t count() const { return count_; }
  backend::cpu::queue& queue() const { return queue_; }

  /// Calls body(tile, worker, begin, end).
  template <class Body>
  void for_each(Body body) const {
    queue_.for_each_tile(count_, [&](std::uint64_t tile, unsigned worker) {
      body(tile, worker, tile * length_, std::min(n_, (tile + 1) * length_));
    });
  }

 private:
  /// Tiles per worker: enough to even out what a worker loses to other programs.
  static constexpr std::uint64_t each = 4;

  std::uint64_t n_;
  backend::cpu::queue& queue_;
  std::uint64_t length_, count_;
};

template <class Bits>
common_bits<Bits> common_of(const std::vector<common_bits<Bits>>& parts) {
  common_bits<Bits> all{0, ~Bits(0)};
  for (const common_bits<Bits>& part : parts) all = {all.any | part.any, all.all & part.all};
  return all;
}

/// The bits in which codes differ.
template <class Bits>
Bits varying_of(const Bits* keys, sort_code<Bits> code, const sort_tiles& tiles) {
  const auto& kernels = radix_key_kernels_for<Bits>(tiles.queue().level());
  std::vector<common_bits<Bits>> found(tiles.count());
  tiles.for_each([&](std::uint64_t tile, unsigned, std::uint64_t begin, std::uint64_t end) {
    found[tile] = kernels.common(keys + begin, end - begin, code);
  });
  const common_bits<Bits> common = common_of(found);
  return common.any ^ common.all;
}

/// Turns the counts of all tiles, one after the other, into the places of each tile's first element with each digit.
/// Returns where the elements with each digit begin, and their end.
inline counts to_places(counts& of_tiles, std::uint64_t tiles) {
  const std::uint64_t values = of_tiles.size() / tiles;
  counts begin(values + 1);
  for (std::uint64_t tile = 0; tile < tiles; ++tile)
    for (std::uint64_t d = 0; d < values; ++d) begin[d + 1] += of_tiles[tile * values + d];
  for (std::uint64_t d = 0; d < values; ++d) begin[d + 1] += begin[d];
  counts next = begin;
  for (std::uint64_t tile = 0; tile < tiles; ++tile)
    for (std::uint64_t d = 0; d < values; ++d) next[d] += std::exchange(of_tiles[tile * values + d], next[d]);
  return begin;
}

/// Moves elements to the places of their tiles. Of `how`, what all tiles share is given.
template <class Bits, class Value, class By>
void move_tiles(const sort_tiles& tiles, const counts& places, scatter_task<Bits, Value, By> how,
                void (*scatter)(const scatter_task<Bits, Value, By>&)) {
  /// Writing straight to as many places as a digit has values is faster while all of them are in the second-level
  /// cache.
  constexpr std::uint64_t near_bytes = 4 * 1024;
  const std::uint64_t bytes = tiles.n() * (sizeof(Bits) + (moves<Value> ? sizeof(Value) : 0));
  how.combine = bytes > near_bytes;
  how.stream = tiles.queue().exceeds_cache(2 * bytes);
  const std::uint64_t slot = scatter_scratch(how.by);
  const backend::buffer scratch(tiles.queue(), tiles.queue().threads() * slot);
  tiles.for_each([&](std::uint64_t tile, unsigned worker, std::uint64_t begin, std::uint64_t end) {
    auto mine = how;
    mine.begin = begin;
    mine.end = end;
    mine.first = &places[tile * how.by.values()];
    mine.scratch = scratch.as<std::byte>() + worker * slot;
    scatter(mine);
  });
}

}  // namespace tilewise::impl::sort
