// SPDX-License-Identifier: Apache-2.0
// What to tune: variants that were named, or those that each device would choose, at some problems. And which of a
// variant's tunings is fastest for a problem on a device: a race in stages, then a final.
//
// In each stage all that are left are measured alternately, in rounds. Who is surely slower than the fastest leaves, as
// in the races of Maron and Moore ("Hoeffding races", NIPS 1993) and of Birattari and others (F-Race, GECCO 2002); of
// the others the slower half does, so that the next stage has twice the rounds in the same time: sequential halving
// (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013). The fastest of many noisy
// medians is low by luck too, so what the stages say of it is no measurement: the final has the one that is left and
// the default in new rounds, and judges by these alone.
#pragma once

#include "lab/bench/measure.hpp"
#include "lab/plan/request.hpp"
#include "lab/time/statistics.hpp"

namespace tilewise::lab {

/// A variant by its name, or an algorithm, of which each device chooses one.
struct tunable {
  const registry::algorithm* what;
  const registry::variant* by;  // null: as the device chooses
};
/// Throws `invalid_argument`, with the nearest names, for what is neither an algorithm nor a variant.
std::vector<tunable> tunables_called(const std::string& name);

/// One variant for one problem on one device.
struct tuning_case {
  registry::problem problem;
  const registry::variant* by;
  std::shared_ptr<backend::device> on;
  std::vector<registry::tuning> tunings;  // that can run: the default first
};

/// A case for each device and problem of the request's selectors, with all tunings that can run there, those first that
/// differ from the default in the fewest axes; only one where there is nothing to choose. Throws `unsupported` if no
/// device of them runs any, or for a group, whose ranks must agree, and `invalid_argument` for problems without an
/// answer.
std::vector<tuning_case> make_tuning_plan(const request& wanted);

/// A tuning in the race.
struct raced {
  registry::tuning tuning;
  measured last = {};                // as it was measured last; `wrong` or `failed` ones are out, for the reason there
  std::optional<summary> gain = {};  // the default's time over its own, in the rounds that both were in then
  unsigned stage = 0;                // in which that was, the final last; 0: in none
};

struct race_result {
  std::vector<raced> all;     // the default first, then by their last stage and time
  std::size_t best = 0;       // in `all`: the default, unless another is surely faster
  std::size_t candidate = 0;  // that was in the final; 0: none was
};

/// Those of a stage that go on, by their times per round; `times` begins with the default's, which always does. Of the
/// others those that are not surely slower than the fastest of all, and at most half of them.
std::vector<std::size_t> going_on(std::span<const std::vector<double>> times);

/// Whether a gain is one, and no noise: its interval lies above 1 by more than the machine's noise floor, a hundredth
/// at least.
bool is_gain(const summary& gain, const record::noise& floor);
/// That share.
double least_gain_over(const record::noise& floor);

/// For about `budget_ns`, half of them in the final; what a driver compiles for a tuning comes on top. Where calls are
/// so long that not all tunings can be tried in that time, the last ones are `skipped`.
/// Every tuning's result is compared with the definition's, in each stage before and after it is timed; one with other
/// bits than the default's is out. `inputs` is make_case of the problem.
race_result race(const tuning_case& what, const verified_case& inputs, measuring how, double budget_ns);

}  // namespace tilewise::lab
