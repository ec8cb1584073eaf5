// SPDX-License-Identifier: Apache-2.0
#include "lab/time/noise.hpp"

#include <algorithm>
#include <cmath>

namespace tilewise::lab {

std::optional<noise_floor> noise_between(const series& first, const series& again) {
  const auto ratio = ratio_of(again.ns, first.ns);
  if (!ratio || !ratio->ci95) return std::nullopt;
  return noise_floor{ratio->median, std::max(std::abs(ratio->ci95->lo - 1), std::abs(ratio->ci95->hi - 1))};
}

}  // namespace tilewise::lab
