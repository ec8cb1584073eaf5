// SPDX-License-Identifier: Apache-2.0
#include "lab/time/rounds.hpp"

#include "base/failure_code.hpp"
#include "lab/bench/agreement.hpp"
#include "lab/time/clock.hpp"

#include <algorithm>
#include <exception>

namespace tilewise::lab {

namespace {

/// Where times never agree, as on a busy machine, warming up shall not take as long as measuring.
constexpr double longest_warm_up_ns = 2e9, share_of_warm_up = 0.25;

struct participant {
  const contender* who;
  series taken = {};
  double spent_ns = 0;
  bool satisfied = false;  // meets the rule; goes on while others do not
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

/// A call that takes as long as all samples may is the only one: nothing of it needs warming up.
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
  // What prepare costs counts too, or cold samples would last for ever.
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

}  // namespace tilewise::lab
