// SPDX-License-Identifier: Apache-2.0
// The radix sort of long arrays: one pass deals all keys to buckets by their leading bits, then each worker sorts
// bucket after bucket in its cache.
#pragma once

#include "sort/cpu/bucket_kernels.hpp"
#include "sort/cpu/radix_passes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace tilewise::impl::sort {

/// Chooses the buckets from a sample, so that all have about the same size. Keys may be distributed unevenly over their
/// leading bits, as floats are over their exponents.
template <class Bits>
class split_plan {
 public:
  /// Plans buckets of `wanted` keys on average for n keys. `common` tells in which bits their codes differ.
  split_plan(common_bits<Bits> common, const std::vector<Bits>& sample, std::uint64_t n, std::uint64_t wanted)
      : end_(static_cast<unsigned>(std::bit_width(common.any ^ common.all))),
        sample_(sample),
        of_each_(static_cast<double>(n) / size()) {
    const unsigned lowest = static_cast<unsigned>(std::countr_zero(common.any ^ common.all));
    const unsigned width = std::min(leading_bits, end_ - lowest);
    by_.shift = end_ - width;
    by_.mask = ~Bits(0) >> (8 * sizeof(Bits) - end_);
    const double buckets = std::min<double>(most_wanted, static_cast<double>(n) / static_cast<double>(wanted));
    std::vector<std::uint32_t> sampled(std::size_t{1} << width);
    for (Bits code : sample_) ++sampled[(code & by_.mask) >> by_.shift];
    for (std::size_t leading = 0; leading < sampled.size(); ++leading) {
      const unsigned more = bits_for(buckets * sampled[leading] / size()), shift = by_.shift - more;
      parts_.push_back({static_cast<std::uint32_t>(shift_.size() - (leading << more)), shift});
      shift_.resize(shift_.size() + (std::size_t{1} << more), static_cast<std::uint8_t>(shift));
    }
    by_.parts = parts_.data();
    by_.buckets = static_cast<unsigned>(shift_.size());
  }
  split_plan(const split_plan&) = delete;

  const splits<Bits>& by() const { return by_; }

  /// Whether the plan is also valid for codes with these common bits.
  bool covers(common_bits<Bits> common) const { return ((common.any ^ common.all) & ~by_.mask) == 0; }

  /// The bits below those that choose the bucket: codes in a bucket are not yet sorted by them.
  Bits below(std::uint64_t bucket) const { return (Bits(1) << shift_[bucket]) - 1; }

  /// Whether the sample predicts that most keys are in buckets of at most `limit` keys, or in buckets that one pass
  /// sorts.
  bool is_even(std::uint64_t limit) const {
    std::vector<std::uint32_t> sampled(by_.buckets);
    std::vector<common_bits<Bits>> common(by_.buckets, {0, ~Bits(0)});
    for (Bits code : sample_) {
      const unsigned bucket = by_.of(code);
      ++sampled[bucket];
      common[bucket] = {common[bucket].any | code, common[bucket].all & code};
    }
    double in_others = 0;
    for (unsigned b = 0; b < by_.buckets; ++b)
      if (sampled[b] * of_each_ > static_cast<double>(limit) &&
          std::bit_width(common[b].any ^ common[b].all) > widest_digit)
        in_others += sampled[b];
    return in_others < size() / 4;
  }

 private:
  /// Enough bits to tell exponents apart, few enough that tables stay in the first-level cache.
  static constexpr unsigned leading_bits = sizeof(Bits) == 4 ? 8 : 10;
  /// Rounding can make up to 1.42 times as many buckets, and each value of the leading bits has at least one.
  static constexpr unsigned most_wanted = 2048;
  static_assert(most_wanted * 1.42 + (1u << leading_bits) <= most_buckets);

  double size() const { return static_cast<double>(sample_.size()); }

  /// How many bits make about this many buckets.
  unsigned bits_for(double buckets) const {
    if (buckets < 1) return 0;
    return std::min(by_.shift, static_cast<unsigned>(std::lround(std::log2(buckets))));
  }

  unsigned end_;  // one above the highest bit that differs
  const std::vector<Bits>& sample_;
  double of_each_;  // keys of the array per key of the sample
  splits<Bits> by_{};
  std::vector<typename splits<Bits>::part> parts_;
  std::vector<std::uint8_t> shift_;  // for each bucket: how many low bits do not choose it
};

template <class Bits, class Value>
class bucket_sort {
 public:
  bucket_sort(const sort_task<Bits, Value>& task, std::uint64_t bucket, unsigned digit_width, const sort_tiles& tiles)
      : task_(task), bucket_(bucket), digit_width_(digit_width), tiles_(tiles), queue_(tiles.queue()) {}

  /// Returns false, and has done nothing, if keys are too uneven for buckets.
  bool run() {
    const std::vector<Bits> sample = sample_codes();
    common_bits<Bits> common{0, ~Bits(0)};
    for (Bits code : sample) common = {common.any | code, common.all & code};
    // Counting reads all codes. If they differ in bits in which the sample did not, plan and count once more.
    while (common.any != common.all) {
      const split_plan<Bits> plan(common, sample, task_.n, bucket_);
      if (!plan.is_even(most())) return false;
      counts places(tiles_.count() * plan.by().values());
      common = count(plan.by(), places);
      if (!plan.covers(common)) continue;
      sort(plan, common.any ^ common.all, places);
      return true;
    }
    return false;
  }

 private:
  static constexpr std::uint64_t element_bytes = sizeof(Bits) + (moves<Value> ? sizeof(Value) : 0);

  /// The largest bucket that one worker sorts alone. It and a workspace of its size should fit the second-level cache,
  /// and the other workers should not wait long for it at the end.
  std::uint64_t most() const {
    constexpr std::uint64_t most_bytes = 1 << 20, least_bytes = 1 << 16;
    const std::uint64_t share = task_.n * element_bytes / (4 * queue_.threads());
    return std::clamp(share, least_bytes, most_bytes) / element_bytes;
  }

  /// Few enough samples for one thread, but at least 8 for each bucket if keys are even.
  std::vector<Bits> sample_codes() const {
    const std::uint64_t size = std::min(task_.n, std::clamp<std::uint64_t>(task_.n / 256, 1024, 16384));
    std::vector<Bits> codes(size);
    for (std::uint64_t i = 0; i < size; ++i) codes[i] = task_.code.encode(task_.in.keys[i * (task_.n / size)]);
    return codes;
  }

  common_bits<Bits> count(const splits<Bits>& by, counts& of_tiles) const {
    const auto& on_keys = radix_key_kernels_for<Bits>(queue_.level());
    std::vector<common_bits<Bits>> found(tiles_.count());
    tiles_.for_each([&](std::uint64_t tile, unsigned, std::uint64_t begin, std::uint64_t end) {
      found[tile] =
          on_keys.count_buckets(task_.in.keys + begin, end - begin, task_.code, by, &of_tiles[tile * by.values()]);
    });
    return common_of(found);
  }

  void sort(const split_plan<Bits>& plan, Bits varying, counts& places) const {
    const workspace<Bits, Value> dealt(queue_, task_.n);
    const counts begin = to_places(places, tiles_.count());
    const scatter_task<Bits, Value, splits<Bits>> how{
        task_.in.keys, task_.in.values, 0, 0, dealt.all(), task_.code, {}, plan.by(), nullptr, nullptr, false, false};
    move_tiles(tiles_, places, how, radix_kernels_for<Bits, Value>(queue_.level()).scatter_to_buckets);
    sort_large(begin, dealt.all());
    sort_others(plan, varying, begin, dealt.all());
  }

  /// Sorts the large buckets one after the other, each with all workers.
  void sort_large(const counts& begin, elements<Bits, Value> dealt) const {
    for (std::size_t b = 0; b + 1 < begin.size(); ++b) {
      const std::uint64_t n = begin[b + 1] - begin[b];
      if (n <= most()) continue;
      const sort_tiles tiles(n, tiles_.length(), queue_);
      const elements<Bits, Value> in = from(dealt, begin[b]);
      const sort_task<Bits, Value> of{in, from(task_.out, begin[b]), n, task_.code};
      radix_passes<Bits, Value>({of, {}, in, digit_width_}, tiles).run();
    }
  }

  void sort_others(const split_plan<Bits>& plan, Bits varying, const counts& begin, elements<Bits, Value> dealt) const {
    std::uint64_t largest = 0;
    for (std::size_t b = 0; b + 1 < begin.size(); ++b)
      if (const std::uint64_t n = begin[b + 1] - begin[b]; n <= most()) largest = std::max(largest, n);
    const workspace<Bits, Value> spare(queue_, queue_.threads() * largest);
    const auto& kernels = bucket_kernels_for<Bits, Value>(queue_.level());
    const bool stream = queue_.exceeds_cache(2 * task_.n * element_bytes);
    // If the usual bits do not tell the codes of one bucket apart, they will not in the next ones either.
    std::vector<unsigned> more_bits(queue_.threads());
    queue_.for_each_tile(begin.size() - 1, [&](std::uint64_t b, unsigned worker) {
      const std::uint64_t n = begin[b + 1] - begin[b];
      if (n == 0 || n > most()) return;
      const bool told_apart =
          kernels.sort({from(dealt, begin[b]), from(spare.all(), worker * largest), from(task_.out, begin[b]), n,
                        varying & plan.below(b), more_bits[worker], task_.code, stream});
      if (!told_apart) more_bits[worker] += 8;
    });
  }

  static elements<Bits, Value> from(elements<Bits, Value> where, std::uint64_t begin) {
    where.keys += begin;
    if constexpr (moves<Value>) where.values += begin;
    return where;
  }

  const sort_task<Bits, Value>& task_;
  const std::uint64_t bucket_;
  const unsigned digit_width_;
  const sort_tiles& tiles_;
  backend::cpu::queue& queue_;
};

}  // namespace tilewise::impl::sort
