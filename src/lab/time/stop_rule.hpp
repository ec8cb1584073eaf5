// SPDX-License-Identifier: Apache-2.0
// When enough has been measured.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tilewise::lab {

enum class stop_reason { precision, max_samples, max_time, interrupted };
std::string_view name_of(stop_reason reason);

struct stop_rule {
  double precision = 0.01;  // half the width of the median's 95 % interval, relative to the median
  std::size_t min_samples = 10;
  double min_ns = 0.5e9;
  std::size_t max_samples = 1000;
  double max_ns = 10e9;

  /// Why to stop after these samples, which took `spent_ns`; none: go on. Precision is judged at min_samples and then
  /// each time a fifth more (at least five) are in: looking after every sample would stop at lucky moments.
  std::optional<stop_reason> verdict(std::span<const double> samples, double spent_ns) const;
};

}  // namespace tilewise::lab
