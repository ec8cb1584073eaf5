// SPDX-License-Identifier: Apache-2.0
// The radix sort of short arrays, and of keys so uneven that buckets would not fit a cache. It makes one pass for each
// of the leading digits, the least significant of them first. An insertion sort then settles the keys that still tie.
#pragma once

#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "sort/cpu/radix_kernels.hpp"
#include "sort/operands.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tilewise::impl::sort {

// The steps of a pass over the tiles of an array: count digits, turn counts into places, move elements.

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

/// Turns the counts of all tiles, which lie one after the other, into the place of each tile's first element with each
/// digit. Returns where the elements with each digit begin, and the end of the last.
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

/// Moves elements to their places. The caller fills in the fields of `how` that are the same for all tiles.
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

template <class Bits, class Value>
struct passes_task {
  sort_task<Bits, Value> of;        // output keys are decoded with its code
  sort_code<Bits> before;           // input keys are encoded with this code
  elements<Bits, Value> workspace;  // room for n elements, which may be the input; null: allocated if needed
  unsigned digit_width;
};

template <class Bits, class Value>
class radix_passes {
 public:
  radix_passes(const passes_task<Bits, Value>& task, const sort_tiles& tiles)
      : task_(task),
        out_(task.of.out),
        n_(task.of.n),
        tiles_(tiles),
        on_keys_(radix_key_kernels_for<Bits>(tiles.queue().level())),
        kernels_(radix_kernels_for<Bits, Value>(tiles.queue().level())) {}

  void run() {
    const std::vector<digit<Bits>> all = cut(varying_of(task_.of.in.keys, task_.before, tiles_));
    const digits leading = enough_of(all);
    sort_by(leading, task_.of.in, task_.before);
    if (leading.size() == all.size() || sort_ties(leading.back().by)) return;
    digits every;
    for (const digit<Bits>& by : all) every.push_back({by, {}});
    sort_by(every, out_, task_.of.code);
  }

 private:
  /// Enough to judge how a digit is distributed.
  static constexpr std::uint64_t sample_size = 4096;
  /// A key may share all its leading digits with so many other keys on average: inserting them costs less than a pass.
  static constexpr double worthwhile = 1.0 / 8;
  /// Moves that the insertion sort may make per element: many more than the sample predicts, still cheaper than a pass.
  static constexpr std::uint64_t moves_each = 2;

  struct counted_digit {
    digit<Bits> by;
    counts of_sample;
  };
  using digits = std::vector<counted_digit>;  // the leading one first

  /// Cuts the bits in which codes differ into digits, from the most significant bit on.
  std::vector<digit<Bits>> cut(Bits varying) const {
    std::vector<digit<Bits>> all;
    for (Bits left = varying; left != 0;) {
      const unsigned end = static_cast<unsigned>(std::bit_width(left));
      const unsigned begin =
          std::max<unsigned>(end < task_.digit_width ? 0 : end - task_.digit_width, std::countr_zero(left));
      all.push_back({begin, end - begin});
      left &= (Bits(1) << begin) - 1;
    }
    return all;
  }

  /// The leading digits that suffice to tell nearly all keys apart, if digits are independent of each other.
  digits enough_of(const std::vector<digit<Bits>>& all) const {
    const Bits* const keys = task_.of.in.keys;
    std::vector<Bits> picked;
    if (tiles_.count() != 1)
      for (std::uint64_t i = 0; i < sample_size; ++i) picked.push_back(keys[i * (n_ / sample_size)]);
    const Bits* const sample = tiles_.count() == 1 ? keys : picked.data();
    const std::uint64_t size = tiles_.count() == 1 ? n_ : sample_size;
    digits enough;
    double others = static_cast<double>(n_);
    for (const digit<Bits>& by : all) {
      counts of_sample(by.values());
      on_keys_.count(sample, size, task_.before, by, of_sample.data());
      double pairs = 0;
      for (std::uint64_t count : of_sample)
        pairs += static_cast<double>(count) * static_cast<double>(count - (count != 0));
      others *= pairs / (static_cast<double>(size) * static_cast<double>(size - 1));
      enough.push_back({by, tiles_.count() == 1 ? std::move(of_sample) : counts()});
      if (others < worthwhile) break;
    }
    return enough;
  }

  /// Stable passes from `from`, which may be the output or the workspace, to the output.
  void sort_by(digits by, elements<Bits, Value> from, sort_code<Bits> before) {
    // Passes write workspace and output alternately, the output last. No pass may write what it reads; where it would,
    // one more pass by a digit of no bits, which only copies, shifts the alternation.
    const bool from_out = same(from, out_), from_workspace = same(from, task_.workspace);
    if (by.empty() || (from_out && by.size() % 2 != 0) || (from_workspace && by.size() % 2 == 0))
      by.push_back({{0, 0}, {n_}});
    const workspace<Bits, Value> own(tiles_.queue(), by.size() > 1 && task_.workspace.keys == nullptr ? n_ : 0);
    const elements<Bits, Value> between = task_.workspace.keys == nullptr ? own.all() : task_.workspace;
    for (std::uint64_t left = by.size(); left-- != 0;) {
      const auto to = left % 2 == 0 ? out_ : between;
      const auto after = left == 0 ? task_.of.code : sort_code<Bits>{};
      pass(by[left], {from.keys, from.values, 0, 0, to, before, after, by[left].by, nullptr, nullptr, false, false});
      before = {};
      from = to;
    }
  }

  static bool same(elements<Bits, Value> a, elements<Bits, Value> b) {
    return a.keys == b.keys || (moves<Value> && a.values != nullptr && a.values == b.values);
  }

  void pass(const counted_digit& by, const scatter_task<Bits, Value, digit<Bits>>& how) {
    const unsigned values = by.by.values();
    counts places = tiles_.count() == 1 ? by.of_sample : counts();  // those of its only tile, in whatever order
    if (places.empty()) {
      places.resize(tiles_.count() * values);
      tiles_.for_each([&](std::uint64_t tile, unsigned, std::uint64_t begin, std::uint64_t end) {
        on_keys_.count(how.keys + begin, end - begin, how.before, by.by, &places[tile * values]);
      });
    }
    to_places(places, tiles_.count());
    move_tiles(tiles_, places, how, kernels_.scatter);
  }

  /// Sorts elements that are already sorted by all bits from the digit `last` up. Returns false if that takes too many
  /// moves; the elements are then still sorted by those bits.
  bool sort_ties(digit<Bits> last) {
    const sort_code<Bits> code = task_.of.code;
    const auto prefix = [&](std::uint64_t i) { return code.encode(out_.keys[i]) >> last.shift; };
    std::vector<std::uint64_t> begin(tiles_.count() + 1, n_);  // elements that share all digits go to one tile
    begin[0] = 0;
    for (std::uint64_t tile = 1; tile < tiles_.count(); ++tile) {
      std::uint64_t at = std::max(begin[tile - 1], tile * tiles_.length());
      while (at < n_ && prefix(at) == prefix(at - 1)) ++at;
      begin[tile] = at;
    }
    std::vector<char> done(tiles_.count());
    tiles_.for_each([&](std::uint64_t tile, unsigned, std::uint64_t, std::uint64_t) {
      done[tile] = kernels_.insert(out_, begin[tile], begin[tile + 1], code, moves_each * tiles_.length());
    });
    return std::find(done.begin(), done.end(), 0) == done.end();
  }

  const passes_task<Bits, Value> task_;
  const elements<Bits, Value> out_;
  const std::uint64_t n_;
  const sort_tiles& tiles_;
  const radix_key_kernels<Bits>& on_keys_;
  const radix_kernels<Bits, Value>& kernels_;
};

}  // namespace tilewise::impl::sort
