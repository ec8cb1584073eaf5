// SPDX-License-Identifier: Apache-2.0
#include "report/runs.hpp"

#include "base/ceil_div.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tilewise::report {

namespace {

/// What is built from uncommitted changes may be another build each time.
bool are_runs_of_one_build(const row& earlier, const row& last) {
  const auto build = [](const row& r) { return std::tie(r.commit, r.build_type, r.machine, r.hardware.description); };
  const auto can_be_joined = [](const row& r) {
    return !r.commit.empty() && !r.is_dirty && r.timed() && r.plausible && r.kernel->spread();
  };
  return can_be_joined(earlier) && can_be_joined(last) && build(earlier) == build(last);
}

/// The middle one, or between the two in the middle, on logarithms.
double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t above = values.size() / 2, below = (values.size() - 1) / 2;
  return above == below ? values[above] : std::sqrt(values[below] * values[above]);
}

/// A first look measures a launch twice, before all else and after it.
std::size_t runs_in(const std::vector<const row*>& records) {
  constexpr std::size_t launches_a_run = 2;
  const bool is_launch = records.back()->algorithm == name_of(record::ceiling::launch);
  return is_launch ? ceil_div(records.size(), launches_a_run) : records.size();
}

double gap_between(double highest_low, double lowest_high) { return std::max(0.0, highest_low / lowest_high - 1); }

/// All have intervals.
row joined(const std::vector<const row*>& runs) {
  row made = *runs.back();
  made.runs = runs_in(runs);
  std::vector<double> medians, lows, highs;
  for (const row* r : runs) {
    medians.push_back(r->kernel->median);
    lows.push_back(*r->kernel->low);
    highs.push_back(*r->kernel->high);
    if (r->min_effect) made.min_effect = std::max(made.min_effect.value_or(0), *r->min_effect);
    if (r->visits_effect) made.visits_effect = std::max(made.visits_effect.value_or(0), *r->visits_effect);
  }
  const auto [lowest, highest_low] = std::minmax_element(lows.begin(), lows.end());
  const auto [lowest_high, highest] = std::minmax_element(highs.begin(), highs.end());
  made.kernel = interval{median_of(medians), *lowest, *highest};
  made.visits_effect = std::max(made.visits_effect.value_or(0), gap_between(*highest_low, *lowest_high));
  return made;
}

}  // namespace

measured_cases cases_of(const row_table& rows) {
  std::map<decltype(case_key(std::declval<const row&>())), std::vector<const row*>> records;
  for (const row& r : rows) records[case_key(r)].push_back(&r);
  measured_cases all;
  for (const row& r : rows) {
    std::vector<const row*>& runs = records.at(case_key(r));
    if (runs.back() != &r) continue;
    const std::size_t known = runs.size();
    std::erase_if(runs, [&](const row* earlier) { return earlier != &r && !are_runs_of_one_build(*earlier, r); });
    all.replaced += known - runs.size();
    all.most_runs = std::max(all.most_runs, runs_in(runs));
    all.rows.push_back(runs.size() == 1 ? &r : &all.joined.emplace_back(joined(runs)));
  }
  return all;
}

}  // namespace tilewise::report
