// SPDX-License-Identifier: Apache-2.0
#include "lab/time/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tilewise::lab {

namespace {

/// Interpolates linearly between neighbours, as most tools do (Hyndman and Fan's type 7).
double quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// An estimate of the standard deviation. If more than half of the values are equal, the MAD is zero, and the mean
/// deviation is used instead; the factors make both agree for a normal distribution.
double robust_sigma(double mad, std::span<const double> deviations) {
  return mad > 0 ? mad / 0.6745 : 1.253314 * mean_of(deviations);
}

}  // namespace

std::optional<interval> median_interval(std::span<const double> sorted) {
  const double n = static_cast<double>(sorted.size());
  double tail = 0;
  std::size_t rank = 0;  // the largest for which P(fewer than `rank` samples lie below the median) <= 2.5 %
  for (; rank < sorted.size() / 2; ++rank) {
    const double k = static_cast<double>(rank);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
    if (tail > 0.025) break;
  }
  if (rank == 0) return std::nullopt;
  return interval{sorted[rank - 1], sorted[sorted.size() - rank]};
}

summary summarize(std::span<const double> values) {
  const std::vector<double> sorted = sorted_copy(values);
  summary s;
  s.n = sorted.size();
  s.median = quantile(sorted, 0.5);
  s.min = sorted.front();
  s.max = sorted.back();
  s.q1 = quantile(sorted, 0.25);
  s.q3 = quantile(sorted, 0.75);
  s.mean = mean_of(sorted);
  s.ci95 = median_interval(sorted);

  std::vector<double> deviations;
  for (double v : sorted) deviations.push_back(std::abs(v - s.median));
  std::sort(deviations.begin(), deviations.end());
  s.mad = quantile(deviations, 0.5);
  const double limit = 3.5 * robust_sigma(s.mad, deviations);
  s.outliers =
      static_cast<std::size_t>(deviations.end() - std::upper_bound(deviations.begin(), deviations.end(), limit));
  return s;
}

summary summarize(std::span<const double> values, std::span<const std::size_t> visits) {
  summary s = summarize(values);
  for (std::size_t begin = 0; const std::size_t taken : visits) {
    const double median = quantile(sorted_copy(values.subspan(begin, taken)), 0.5);
    if (s.ci95) s.ci95 = interval{std::min(s.ci95->lo, median), std::max(s.ci95->hi, median)};
    begin += taken;
  }
  return s;
}

std::optional<summary> ratio_of(std::span<const double> other, std::span<const double> ours) {
  return ratio_of({&other, 1}, {&ours, 1});
}

std::optional<summary> ratio_of(std::span<const std::span<const double>> others,
                                std::span<const std::span<const double>> ours) {
  std::vector<double> ratios;
  std::vector<std::size_t> visits;
  for (std::size_t v = 0; v < std::min(others.size(), ours.size()); ++v) {
    visits.push_back(std::min(others[v].size(), ours[v].size()));
    for (std::size_t i = 0; i < visits.back(); ++i) ratios.push_back(others[v][i] / ours[v][i]);
  }
  if (ratios.empty()) return std::nullopt;
  return summarize(ratios, visits);
}

}  // namespace tilewise::lab
