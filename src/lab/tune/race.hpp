// SPDX-License-Identifier: Apache-2.0
// Finds the fastest tuning of a variant for a problem on a device, by a race in stages and then a final. Also finds
// what to tune: variants that were named, or those that each device would choose, for some problems.
//
// Each stage measures all remaining tunings in turns, in rounds. A tuning that is surely slower than the fastest
// leaves, as in the races of Maron and Moore ("Hoeffding races", NIPS 1993) and of Birattari and others (F-Race, GECCO
// 2002). Then the slower half of the others leaves, so that the next stage has twice the rounds in the same time:
// sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013). The
// fastest of many noisy medians is also low by luck, so times from the stages are not used as results: the final
// measures the remaining tuning and the default in new rounds, and only these count.
#pragma once

#include "lab/bench/measure.hpp"
#include "lab/plan/request.hpp"
#include "lab/time/statistics.hpp"

namespace tilewise::lab {

/// A named variant, or an algorithm, for which each device chooses a variant.
struct tunable {
  const registry::algorithm* what;
  const registry::variant* by;  // null: the device's choice
};
/// Throws `invalid_argument`, with the nearest names, if the name is neither an algorithm nor a variant.
std::vector<tunable> tunables_called(const std::string& name);

/// One variant for one problem on one device.
struct tuning_case {
  registry::problem problem;
  const registry::variant* by;
  std::shared_ptr<backend::device> on;
  std::vector<registry::tuning> tunings;  // those that can run; the default first
};

/// One case for each device and problem of the request's selectors, with all tunings that can run there. The default
/// comes first, then those that differ from it in the fewest axes. A variant without a choice has one tuning. Throws
/// `unsupported` if no device runs any of them, or for a group, whose ranks must agree; `invalid_argument` for problems
/// without an answer.
std::vector<tuning_case> make_tuning_plan(const request& wanted);

/// A tuning in the race.
struct raced {
  registry::tuning tuning;
  measured last = {};                // its last measurement; `wrong` and `failed` ones are out, for the reason there
  std::optional<summary> gain = {};  // the default's time over its own, in the rounds of that measurement with both
  unsigned stage = 0;                // the stage of that measurement; the final is the last; 0: none
};

struct race_result {
  std::vector<raced> all;     // the default first, then by their last stage and time
  std::size_t best = 0;       // index in `all`: the default, unless another is surely faster
  std::size_t candidate = 0;  // the one that was in the final; 0: none
};

/// The indices of the tunings that stay for the next stage, by their times per round. `times` begins with the
/// default's; the default always stays. Of the others, those stay that are not surely slower than the fastest of all,
/// but at most half of them.
std::vector<std::size_t> going_on(std::span<const std::vector<double>> times);

/// Whether a gain is more than noise: its whole interval lies above 1 by more than least_gain_over(floor).
bool is_gain(const summary& gain, const record::noise& floor);
/// The machine's noise floor as a share, at least 1 %.
double least_gain_over(const record::noise& floor);

/// Takes about `budget_ns`, half of it in the final, plus what a driver needs to compile the tunings. If calls are so
/// long that the time is not enough for all tunings, the last ones are `skipped`. Every tuning's result is compared
/// with the definition's before and after it is timed, in each stage. A tuning whose bits differ from the default's is
/// out. `inputs` comes from make_case of the problem.
race_result race(const tuning_case& what, const verified_case& inputs, measuring how, double budget_ns);

}  // namespace tilewise::lab
