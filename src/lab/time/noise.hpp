// SPDX-License-Identifier: Apache-2.0
// The noise floor: what differs when nothing differs.
#pragma once

#include "lab/time/rounds.hpp"
#include "lab/time/statistics.hpp"

namespace tilewise::lab {

struct noise_floor {
  double aa_median_ratio;  // of one contender to itself, entered twice into the same rounds
  double min_effect;       // a difference below this may be chance: the farther end of that ratio's interval from 1
};

/// None below 6 common rounds.
std::optional<noise_floor> noise_between(const series& first, const series& again);

}  // namespace tilewise::lab
