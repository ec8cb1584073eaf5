// SPDX-License-Identifier: Apache-2.0
#include "lab/time/stop_rule.hpp"

#include "lab/time/statistics.hpp"

#include <algorithm>
#include <array>

namespace tilewise::lab {

std::string_view name_of(stop_reason reason) {
  constexpr std::array<std::string_view, 4> names{"precision", "max_samples", "max_time", "interrupted"};
  return names[static_cast<std::size_t>(reason)];
}

namespace {

bool is_checkpoint(std::size_t n, std::size_t first) {
  std::size_t checkpoint = first;
  while (checkpoint < n) checkpoint += std::max<std::size_t>(5, checkpoint / 5);
  return checkpoint == n;
}

bool is_precise(std::span<const double> samples, double precision) {
  const summary s = summarize(samples);
  return s.ci95 && std::max(s.ci95->hi - s.median, s.median - s.ci95->lo) <= precision * s.median;
}

}  // namespace

std::optional<stop_reason> stop_rule::verdict(std::span<const double> samples, double spent_ns) const {
  const std::size_t n = samples.size();
  if (n >= min_samples && spent_ns >= min_ns && is_checkpoint(n, min_samples) && is_precise(samples, precision))
    return stop_reason::precision;
  if (n >= max_samples) return stop_reason::max_samples;
  if (spent_ns >= max_ns) return stop_reason::max_time;
  return std::nullopt;
}

}  // namespace tilewise::lab
