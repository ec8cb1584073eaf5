// SPDX-License-Identifier: Apache-2.0
#include "lab/time/rounds.hpp"

#include "base/enter.hpp"
#include "lab/bench/agreement.hpp"
#include "lab/time/clock.hpp"
#include "lab/time/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>

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

namespace {

bool agree(const std::array<double, 3>& times) {
  const auto [lo, hi] = std::minmax_element(times.begin(), times.end());
  return *lo > 0 && *hi <= 1.05 * *lo;
}

}  // namespace

calibration warm_up(const contender& who, double max_ns) {
  const double long_enough =
      std::max(shortest_sample_ns, shortest_sample_ticks * as_first_rank(static_cast<double>(clock_resolution_ns())));
  constexpr std::uint64_t most_calls = std::uint64_t{1} << 24;  // so that a call that does nothing ends as well
  calibration found;
  double spent = 0, last = 0;
  const auto sample = [&] {
    if (who.prepare) who.prepare();
    last = who.time(found.calls_per_sample);
    spent += last;
    if (who.after) who.after();
  };
  sample();
  while (!who.one_call && last < long_enough && found.calls_per_sample < most_calls && spent < max_ns) {
    found.calls_per_sample *= 2;
    sample();
  }
  std::array<double, 3> recent{0, 0, last};
  while (!agree(recent) && spent < max_ns) {
    sample();
    std::rotate(recent.begin(), recent.begin() + 1, recent.end());
    recent[2] = last;
  }
  found.ns_per_call = last / static_cast<double>(found.calls_per_sample);
  return found;
}

namespace {

/// Limits the warm-up on a busy machine, where times may never agree.
constexpr double longest_warm_up_ns = 2e9, share_of_warm_up = 0.25;

struct participant {
  const contender* who;
  series taken = {};
  double spent_ns = 0;
  bool satisfied = false;  // it has met the rule, and goes on because others have not
  bool left = false;
};

template <class F>
void guarded(participant& p, const round_hooks& hooks, F&& f) {
  try {
    f();
  } catch (const std::exception& failure) {
    hooks.on_failure(failure);
    p.taken.failure = failure.what();
    p.taken.failure_code = base::failure_code(failure);
    p.left = true;
  }
}

/// A call that takes as long as all samples may is the only sample; then there is no warm-up.
void warm_up(participant& p, const stop_rule& rule) {
  const calibration found = warm_up(*p.who, std::min(share_of_warm_up * rule.max_ns, longest_warm_up_ns));
  p.taken.calls_per_sample = found.calls_per_sample;
  if (found.calls_per_sample != 1 || found.ns_per_call < rule.max_ns) return;
  p.taken.ns.push_back(found.ns_per_call);
  p.left = true;
}

void take_sample(participant& p, const stop_rule& rule) {
  const std::int64_t started = now_ns();
  if (p.who->prepare) p.who->prepare();
  const double ns = p.who->time(p.taken.calls_per_sample);
  p.taken.ns.push_back(ns / static_cast<double>(p.taken.calls_per_sample));
  // The time of `prepare` counts too; otherwise cold samples would never reach their time limit.
  p.spent_ns += std::max(ns, as_first_rank(static_cast<double>(now_ns() - started)));
  if (p.who->after) p.who->after();
  const auto reason = rule.verdict(p.taken.ns, p.spent_ns);
  if (!reason) return;
  if (*reason == stop_reason::precision) {
    p.satisfied = true;
    p.taken.reason = stop_reason::precision;
  } else {
    p.left = true;
    if (!p.satisfied) p.taken.reason = *reason;
  }
}

}  // namespace

std::vector<series> measure_in_rounds(std::span<const contender> contenders, const stop_rule& rule,
                                      const round_hooks& hooks) {
  std::vector<participant> all;
  for (const contender& c : contenders) all.push_back({&c});
  bool interrupted = false;
  const auto visit = [&](participant& p, std::size_t round, auto&& action) {
    if (p.left || (interrupted = interrupted || hooks.interrupted())) return;
    hooks.before_sample(*p.who, round);
    guarded(p, hooks, [&] { action(p); });
  };

  for (participant& p : all) visit(p, 0, [&](participant& me) { warm_up(me, rule); });
  const auto done = [](const participant& p) { return p.left || p.satisfied; };
  for (std::size_t round = 1; !interrupted && !std::all_of(all.begin(), all.end(), done); ++round) {
    for (participant& p : all) visit(p, round, [&](participant& me) { take_sample(me, rule); });
    std::reverse(all.begin(), all.end());
  }

  std::vector<series> results(all.size());
  for (participant& p : all) {
    if (interrupted && !done(p)) p.taken.reason = stop_reason::interrupted;
    results[static_cast<std::size_t>(p.who - contenders.data())] = std::move(p.taken);
  }
  return results;
}

std::optional<noise_floor> noise_between(const series& first, const series& again) {
  const auto ratio = ratio_of(again.ns, first.ns);
  if (!ratio || !ratio->ci95) return std::nullopt;
  return noise_floor{ratio->median, std::max(std::abs(ratio->ci95->lo - 1), std::abs(ratio->ci95->hi - 1))};
}

}  // namespace tilewise::lab
