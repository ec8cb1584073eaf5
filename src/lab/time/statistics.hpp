// SPDX-License-Identifier: Apache-2.0
// Statistics of a list of times: medians with intervals that assume nothing about the distribution.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace tilewise::lab {

struct interval {
  double lo, hi;
};

struct summary {
  std::size_t n = 0;
  double median = 0, min = 0, max = 0, q1 = 0, q3 = 0, mean = 0;
  double mad = 0;                     // median absolute deviation, not scaled
  std::size_t outliers = 0;           // modified z above 3.5 (Iglewicz and Hoaglin, 1993); counted, never dropped
  std::optional<interval> ci95 = {};  // of the median
};

/// The 95 % interval of the median between two order statistics: the count of samples below the true median is
/// Binomial(n, 1/2) whatever the distribution. None below 6 samples, where even [min, max] covers less than 95 %.
std::optional<interval> median_interval(std::span<const double> sorted);

/// `values` may be in any order; there must be at least one.
summary summarize(std::span<const double> values);

/// For samples from several visits; `visits` has the number of samples in each. The interval is widened to include each
/// visit's own median, since a shift of a whole visit, such as by where its memory lies, does not show in the spread
/// within a visit.
summary summarize(std::span<const double> values, std::span<const std::size_t> visits);

/// The statistics of other[i] / ours[i], round by round: above 1 means that ours is faster. Rounds in which only one
/// took part are left out. None if there is no common round.
std::optional<summary> ratio_of(std::span<const double> other, std::span<const double> ours);
/// The same for several visits, with the interval widened as above.
std::optional<summary> ratio_of(std::span<const std::span<const double>> others,
                                std::span<const std::span<const double>> ours);

}  // namespace tilewise::lab
