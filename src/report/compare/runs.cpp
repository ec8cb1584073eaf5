// SPDX-License-Identifier: Apache-2.0
#include "report/compare/comparison.hpp"

#include "base/ceil_div.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tilewise::report {

namespace {

/// Why records do not belong to one build and machine; empty if they do. Each build from uncommitted changes may be
/// another build.
std::string_view why_not_of_one_build(const row& earlier, const row& last) {
  const auto build = [](const row& r) { return std::tie(r.commit, r.build_type); };
  const auto place = [](const row& r) { return std::tie(r.machine, r.hardware.description); };
  if (earlier.commit.empty() || last.commit.empty()) return "one does not name its build";
  if (earlier.is_dirty || last.is_dirty) return "one is of uncommitted changes";
  if (build(earlier) != build(last)) return "they are of different builds";
  return place(earlier) != place(last) ? "they are of different hardware" : "";
}

/// Why the times of runs of one build are not joined; empty if they are.
std::string_view why_not_joined(const row& earlier, const row& last) {
  if (!earlier.timed() || !last.timed()) return "one has no time";
  if (!earlier.plausible || !last.plausible) return "one has a time that cannot be true";
  return earlier.kernel->spread() && last.kernel->spread() ? "" : "one has no interval";
}

int gravity(const row& r) { return r.wrong() ? 2 : r.failed() ? 1 : 0; }

/// The median; of an even number, the geometric mean of the middle two.
double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t above = values.size() / 2, below = (values.size() - 1) / 2;
  return above == below ? values[above] : std::sqrt(values[below] * values[above]);
}

/// The number of runs. A first look measures a launch twice in one run, before and after everything else.
std::size_t runs_in(const std::vector<const row*>& records) {
  constexpr std::size_t launches_a_run = 2;
  const bool is_launch = records.back()->algorithm == name_of(record::ceiling::launch);
  return is_launch ? ceil_div(records.size(), launches_a_run) : records.size();
}

double gap_between(double highest_low, double lowest_high) { return std::max(0.0, highest_low / lowest_high - 1); }

/// The median of the medians, within all the intervals.
interval joined(const std::vector<interval>& all) {
  std::vector<double> medians;
  interval made{0, *all.front().low, *all.front().high};
  for (const interval& i : all) {
    medians.push_back(i.median);
    made.low = std::min(*made.low, *i.low), made.high = std::max(*made.high, *i.high);
  }
  made.median = median_of(medians);
  return made;
}

/// The ratios that all runs have, with an interval.
std::vector<ratio> joined_ratios(const std::vector<const row*>& runs) {
  std::vector<ratio> made;
  for (const ratio& last : runs.back()->ratios) {
    std::vector<interval> all;
    for (const row* r : runs)
      for (const ratio& q : r->ratios)
        if (q.to == last.to && q.device == last.device && q.tuning == last.tuning && q.value.low && q.value.high)
          all.push_back(q.value);
    if (all.size() == runs.size()) made.push_back({last.to, last.device, last.tuning, joined(all)});
  }
  return made;
}

/// Joins runs; each must have an interval.
row joined(const std::vector<const row*>& runs) {
  row made = *runs.back();
  made.runs = runs_in(runs);
  std::vector<interval> times;
  double highest_low = 0, lowest_high = *runs.back()->kernel->high;
  for (const row* r : runs) {
    times.push_back(*r->kernel);
    highest_low = std::max(highest_low, *r->kernel->low), lowest_high = std::min(lowest_high, *r->kernel->high);
    if (r->min_effect) made.min_effect = std::max(made.min_effect.value_or(0), *r->min_effect);
    if (r->visits_effect) made.visits_effect = std::max(made.visits_effect.value_or(0), *r->visits_effect);
  }
  made.kernel = joined(times);
  made.ratios = joined_ratios(runs);
  made.visits_effect = std::max(made.visits_effect.value_or(0), gap_between(highest_low, lowest_high));
  return made;
}

/// The records of each case, in order. A row that was wrong or failed before it was timed lacks its threads; it is
/// assigned to a case that is equal except for these, if there is one.
std::vector<std::vector<const row*>> records_of_cases(const row_table& rows) {
  const auto choice = [](const row& r) {
    return std::tie(r.group, r.asked_data, r.variant, r.device, r.tuning, r.mode);
  };
  std::map<decltype(choice(rows[0])), std::set<std::uint64_t>> teams;
  for (const row& r : rows)
    if (r.threads != 0) teams[choice(r)].insert(r.threads);
  const auto threads_of = [&](const row& r) {
    if (r.threads != 0 || gravity(r) == 0) return r.threads;
    const auto known = teams.find(choice(r));
    return known != teams.end() && known->second.size() == 1 ? *known->second.begin() : 0;
  };
  std::map<std::pair<decltype(choice(rows[0])), std::uint64_t>, std::size_t> places;
  std::vector<std::vector<const row*>> cases;
  for (const row& r : rows) {
    const auto [place, is_new] = places.try_emplace({choice(r), threads_of(r)}, cases.size());
    if (is_new) cases.emplace_back();
    cases[place->second].push_back(&r);
  }
  return cases;
}

}  // namespace

bool digests_differ(const row& a, const row& b) {
  return !a.own_order && !b.own_order && !a.is_limit() && a.is_ok() && b.is_ok() && a.data == b.data &&
         a.seed == b.seed && a.on.tool.order_version == b.on.tool.order_version && !a.digest.empty() &&
         !b.digest.empty() && a.digest != b.digest;
}

measured_cases cases_of(const row_table& rows) {
  measured_cases all;
  for (std::vector<const row*>& runs : records_of_cases(rows)) {
    const row& last = *runs.back();
    const auto leave_out = [&](auto why_not) {
      std::erase_if(runs, [&](const row* earlier) {
        const std::string_view why = earlier == &last ? "" : why_not(*earlier, last);
        if (!why.empty()) all.replaced += 1, all.why_replaced.insert(why);
        return !why.empty();
      });
    };
    leave_out(why_not_of_one_build);
    const row& gravest = **std::max_element(runs.rbegin(), runs.rend(),
                                            [](const row* a, const row* b) { return gravity(*a) < gravity(*b); });
    if (gravity(gravest) > 0) {
      all.rows.push_back(&gravest);
      continue;
    }
    const bool differ = std::any_of(runs.begin(), runs.end(), [&](const row* r) { return digests_differ(*r, last); });
    const std::uint64_t told = runs_in(runs);
    leave_out(why_not_joined);
    all.most_runs = std::max(all.most_runs, runs_in(runs));
    if (runs.size() == 1 && !differ) {
      all.rows.push_back(&last);
      continue;
    }
    row& made = all.joined.emplace_back(runs.size() == 1 ? last : joined(runs));
    if (differ) made.verified = false, made.runs = told;
    all.rows.push_back(&made);
  }
  return all;
}

}  // namespace tilewise::report
