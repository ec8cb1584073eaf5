// SPDX-License-Identifier: Apache-2.0
// Into which buckets a radix sort deals its keys: chosen by a sample, so that they have about one size however the keys
// are distributed over their leading bits, as floats are over their exponents.
#pragma once

#include "sort/cpu/radix_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace tilewise::impl::sort {

template <class Bits>
class split_plan {
 public:
  /// For n keys, whose codes differ in bits that are not common, in buckets of `wanted` keys on average.
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

  /// Whether it holds for codes with these common bits too.
  bool covers(common_bits<Bits> common) const { return ((common.any ^ common.all) & ~by_.mask) == 0; }

  /// Bits by which the codes of a bucket are not yet sorted.
  Bits below(std::uint64_t bucket) const { return (Bits(1) << shift_[bucket]) - 1; }

  /// Whether most keys should be in buckets of at most `limit` keys, or in such whose keys one pass would sort.
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
  /// As many as tell exponents apart, whose tables stay in the first-level cache.
  static constexpr unsigned leading_bits = sizeof(Bits) == 4 ? 8 : 10;
  /// Rounding makes up to 1.42 times as many, and there is at least one for each value of the leading bits.
  static constexpr unsigned most_wanted = 2048;
  static_assert(most_wanted * 1.42 + (1u << leading_bits) <= most_buckets);

  double size() const { return static_cast<double>(sample_.size()); }

  /// How many bits make this many buckets, or nearly.
  unsigned bits_for(double buckets) const {
    if (buckets < 1) return 0;
    return std::min(by_.shift, static_cast<unsigned>(std::lround(std::log2(buckets))));
  }

  unsigned end_;  // of the bits that differ
  const std::vector<Bits>& sample_;
  double of_each_;  // keys that one of the sample stands for
  splits<Bits> by_{};
  std::vector<typename splits<Bits>::part> parts_;
  std::vector<std::uint8_t> shift_;  // of each bucket
};

}  // namespace tilewise::impl::sort
