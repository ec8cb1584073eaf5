// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/measured.hpp"

#include "base/enter.hpp"
#include "lab/time/statistics.hpp"

#include <algorithm>

namespace tilewise::lab {

void measured::end(record::status state, const std::string& reason) {
  result.state = state;
  result.reason = reason;
  result.timing.reset();
  result.derived.reset();
  if (result.ranks) result.ranks->exchange_ns.reset();
  result.ratios.clear();
}

void measured::fail(const std::string& why, std::optional<errc> code) {
  end(record::status::failed, why);
  failure = code;
}

void measured::interrupt() {
  result.state = record::status::interrupted;
  result.reason = "Ctrl-C";
}

void measured::guard(const round_hooks& hooks, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& thrown) {
    hooks.on_failure(thrown);
    fail(thrown.what(), base::failure_code(thrown));
  }
}

const record::clock* measured::time() const {
  if (!result.timing) return nullptr;
  const auto& taken = result.timing->kernel ? result.timing->kernel : result.timing->end_to_end;
  return taken ? &*taken : nullptr;
}

std::optional<double> measured::quickest_ns() const {
  const record::clock* const taken = time();
  if (taken == nullptr || !taken->min_ns) return std::nullopt;
  return std::min(*taken->min_ns, result.timing->first_call_ns.value_or(*taken->min_ns));
}

void check_and_time(std::vector<measured>& rows, const round_hooks& hooks,
                    const std::function<void(std::size_t)>& check, const std::function<void()>& time) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_ok()) continue;
    if (hooks.interrupted())
      rows[i].interrupt();
    else
      check(i);
  }
  time();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].is_ok()) check(i);
}

namespace {

record::clock clock_of(const summary& s, std::uint64_t calls_per_sample, std::string reason,
                       std::vector<double> samples) {
  return {.n = s.n,
          .calls_per_sample = calls_per_sample,
          .median_ns = s.median,
          .ci95_lo_ns = s.ci95 ? record::maybe_number(s.ci95->lo) : std::nullopt,
          .ci95_hi_ns = s.ci95 ? record::maybe_number(s.ci95->hi) : std::nullopt,
          .min_ns = s.min,
          .max_ns = s.max,
          .q1_ns = s.q1,
          .q3_ns = s.q3,
          .mad_ns = s.mad,
          .mean_ns = s.mean,
          .outliers = s.outliers,
          .stop_reason = std::move(reason),
          .visits = {},
          .samples_ns = std::move(samples)};
}

}  // namespace

record::clock clock_of(const series& taken) {
  return clock_of(summarize(taken.ns), taken.calls_per_sample, std::string(name_of(taken.reason)), taken.ns);
}

record::clock joined(const record::clock& first, const record::clock& last) {
  std::vector<double> samples = *first.samples_ns;
  samples.insert(samples.end(), last.samples_ns->begin(), last.samples_ns->end());
  std::vector<record::count> visits{first.n, last.n};
  const bool is_precise = first.stop_reason == name_of(stop_reason::precision);
  const summary of_both = summarize(samples, visits);
  record::clock both = clock_of(of_both, std::max(first.calls_per_sample, last.calls_per_sample),
                                is_precise ? last.stop_reason : first.stop_reason, std::move(samples));
  both.visits.emplace(std::move(visits));
  return both;
}

double visits_effect(const record::clock& first, const record::clock& last) {
  if (!first.ci95_lo_ns || !last.ci95_lo_ns) return 0;
  return std::max({0.0, *last.ci95_lo_ns / *first.ci95_hi_ns - 1, *first.ci95_lo_ns / *last.ci95_hi_ns - 1});
}

std::vector<std::span<const double>> visits_of(const record::clock& c) {
  std::vector<std::span<const double>> all;
  std::span<const double> rest = *c.samples_ns;
  for (const record::count taken : c.visits.value_or(std::vector{c.n})) {
    all.push_back(rest.first(taken));
    rest = rest.subspan(taken);
  }
  return all;
}

}  // namespace tilewise::lab
