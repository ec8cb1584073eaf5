// SPDX-License-Identifier: Apache-2.0
// Passes over an array by the leading digits, the last of them first, then an insertion sort of what they leave: the
// radix sort of short arrays, and of keys so uneven that buckets would not fit a cache.
#pragma once

#include "sort/cpu/tiles.hpp"

#include <bit>
#include <cstdint>

namespace tilewise::impl::sort {

/// How passes are made.
template <class Bits, class Value>
struct passes_task {
  sort_task<Bits, Value> of;        // keys are written with its code
  sort_code<Bits> before;           // and read with this one
  elements<Bits, Value> workspace;  // room for n elements, which may be the input; null: allocated where needed
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
  /// Other keys with which a key may share all its leading digits, on average: inserting so few costs less than a pass.
  static constexpr double worthwhile = 1.0 / 8;
  /// Moves of an insertion sort for each element: many more than the sample promised, but still cheaper than a pass.
  static constexpr std::uint64_t moves_each = 2;

  struct counted_digit {
    digit<Bits> by;
    counts of_sample;
  };
  using digits = std::vector<counted_digit>;  // the leading one first

  /// The bits in which codes differ, from the first on.
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

  /// The first of `all` that tell nearly all keys apart, if digits are independent of each other.
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
    // Passes write workspace and output alternately, the output last, and none writes what it reads. A pass by no bits
    // copies.
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

  /// Sorts elements that are in order down to the digit `last`. False if there are too many, still in some such order.
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
