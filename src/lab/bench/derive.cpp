// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/derive.hpp"

#include "lab/roofline/limit.hpp"
#include "lab/time/statistics.hpp"

#include <algorithm>

namespace tilewise::lab {

namespace {

ceiling kind_of(const measured& limit) { return *record::word_of<ceiling>(limit.result.what.algorithm); }

/// The row's work in the unit of the limit.
double work_of(const measured& m, const measured& limit) {
  return record::is_arithmetic(kind_of(limit)) ? m.result.what.operations : m.result.what.bytes_min;
}

double most_per_s(const measured& limit) { return work_of(limit, limit) / (*limit.time()->median_ns * 1e-9); }

record::rates rates_of(const measured& m) {
  const double seconds = *m.time()->median_ns * 1e-9;
  const auto rate = [&](double work) { return work > 0 ? record::maybe_number(work / seconds) : std::nullopt; };
  record::rates r;
  r.elements_per_s = rate(m.elements);
  r.bytes_per_s = rate(m.result.what.bytes_min);
  r.operations_per_s = rate(m.result.what.operations);
  r.ceiling_operations_per_s.emplace();
  return r;
}

std::optional<summary> ratio_of(const record::clock& other, const record::clock& mine) {
  return lab::ratio_of(visits_of(other), visits_of(mine));
}

/// The share of the limit's rate that the row reaches at least, by the interval of their ratio: noise alone must not
/// make a time implausible.
double surest_share(const measured& mine, const measured& limit) {
  const summary faster = *ratio_of(*limit.time(), *mine.time());
  const double least = faster.ci95 ? faster.ci95->lo : faster.median;
  return least * work_of(mine, limit) / work_of(limit, limit);
}

/// A disturbed limit does not make a time implausible.
void hold_against(const measured& limit, const registry::problem& p, measured& mine) {
  record::rates& r = *mine.result.derived;
  r.bound_by = kind_of(limit);
  r.fraction_of_ceiling = work_of(mine, limit) / (*mine.time()->median_ns * 1e-9) / most_per_s(limit);
  const bool is_judged = &mine != &limit && record::interval_of(*limit.time()).is_narrow();
  r.plausible = !is_judged || is_plausible(p, {mine.result.what.order, *r.bound_by, surest_share(mine, limit),
                                               mine.result.device.cache_bytes.value_or(0)});
}

void compare(const row& to, const measured& other, measured& mine) {
  const auto value = ratio_of(*other.time(), *mine.time());
  if (!value) return;
  record::ratio& r = mine.result.ratios.emplace_back();
  r.to = to.id();
  r.device = other.result.device.name;
  r.tuning = other.result.what.tuning;
  r.median = value->median;
  if (value->ci95) r.ci95_lo = value->ci95->lo, r.ci95_hi = value->ci95->hi;
}

/// Whether `m` is a limit for this row. A job on one of several devices has the limit of its own device; the limit of
/// files holds for all.
bool is_limit_for(const measured& mine, const measured& m) {
  const bool is_job = !mine.result.timing->kernel;
  return m.result.what.is_limit() && m.time() != nullptr && work_of(m, m) > 0 &&
         (!is_job || m.result.what.backend == files_backend || m.result.device.name == mine.result.device.name);
}

/// The row is bound by the limit that needs the longest for its work. A limit is bound by itself.
void hold_against_limits(const registry::problem& p, std::span<const measured> rows, measured& mine) {
  record::rates& r = *mine.result.derived;
  const measured* bound = nullptr;
  const auto least_s = [&](const measured& limit) { return work_of(mine, limit) / most_per_s(limit); };
  for (const measured& m : rows) {
    if (!is_limit_for(mine, m)) continue;
    (record::is_arithmetic(kind_of(m)) ? *r.ceiling_operations_per_s : r.ceiling_bytes_per_s) = most_per_s(m);
    if (mine.result.what.is_limit() ? &m == &mine : bound == nullptr || least_s(m) >= least_s(*bound)) bound = &m;
  }
  if (bound != nullptr) hold_against(*bound, p, mine);
  // Shows the arithmetic limit as bytes per second, the unit of this problem's speeds.
  if (bound == &mine && record::is_arithmetic(kind_of(mine)) && mine.unit == registry::speed_unit::bytes)
    r.bytes_per_s = most_per_s(mine) * p.what->compulsory_bytes(p) / p.what->operations(p);
}

/// Whether a ratio can name this row. It does so by variant, device and tuning, which rows with different numbers of
/// threads share.
bool is_named_alone(const group& what, std::size_t i) {
  const auto same = [&](const row& r) {
    return r.variant == what.rows[i].variant && r.on->info().name == what.rows[i].on->info().name &&
           r.tuning == what.rows[i].tuning;
  };
  return std::count_if(what.rows.begin(), what.rows.end(), same) == 1;
}

}  // namespace

void derive(const group& what, std::span<measured> rows) {
  for (measured& mine : rows) {
    if (mine.time() == nullptr) continue;
    mine.result.ratios.clear();
    mine.result.derived = rates_of(mine);
    hold_against_limits(what.problem, rows, mine);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (&rows[i] != &mine && rows[i].time() != nullptr && what.rows[i].is_default_tuning() && is_named_alone(what, i))
        compare(what.rows[i], rows[i], mine);
  }
}

void hold_against_round_trip(measured& m) {
  if (!m.result.derived || !m.result.timing->kernel || !m.result.timing->round_trip) return;
  const record::clock &kernel = *m.result.timing->kernel, &round_trip = *m.result.timing->round_trip;
  if (kernel.n < 2) return;  // a single sample may have been disturbed
  const double at_least = *(kernel.ci95_lo_ns ? kernel.ci95_lo_ns : kernel.min_ns);
  const double at_most = *(round_trip.ci95_hi_ns ? round_trip.ci95_hi_ns : round_trip.max_ns);
  if (at_least <= at_most) return;
  m.result.derived->plausible = false;
  m.result.reason =
      "the kernel seems to take longer than the round trip that contains it: something slowed it down meanwhile; "
      "measure it again";
}

}  // namespace tilewise::lab
