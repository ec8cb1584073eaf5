// SPDX-License-Identifier: Apache-2.0
#include "lab/plan/visits.hpp"

#include "lab/bench/agreement.hpp"
#include "lab/bench/operand_sets.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/time/clock.hpp"
#include "lab/verify/verify.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace tilewise::lab {

namespace {

constexpr double longest_stretch_ns = 60e9;
/// Speeds on one core of the work that is not timed: making inputs and comparing results; and computing the definition.
constexpr double bytes_per_ns = 1, operations_per_ns = 0.5;
/// The cost of a row as a multiple of the time that its samples may take: the samples, the warm-up, and the excess of
/// the last round.
constexpr double share_of_samples = 1.2;
/// The same for a round trip and a call on host memory, which get a fifth of the time each, at the first visit only.
constexpr double share_of_transfers = 0.5;

double cost_of_inputs(const registry::problem& p) {
  return static_cast<double>(operand_bytes(p)) / bytes_per_ns +
         std::min(p.what->operations(p), longest_definition) / operations_per_ns;
}

double cost_of_rows(const group& g, const measuring& how, bool is_last) {
  const bool has_transfers = !is_last && g.rows.back().on->info().backend != "cpu" && !is_whole_job(how.what);
  const auto timed = std::count_if(g.rows.begin(), g.rows.end(), [](const row& r) { return r.skip.empty(); });
  const double samples = how.rule.max_ns * (share_of_samples / visits_of_each);
  const double transfers = has_transfers ? how.rule.max_ns * share_of_transfers : 0;
  const double checks = 2 * static_cast<double>(operand_bytes(g.problem)) / bytes_per_ns;
  return static_cast<double>(timed) * (samples + transfers + checks) + samples;  // one row is timed twice
}

bool follows(const group& g, const group& last) {
  return g.from == last.from && registry::to_string(g.problem) == registry::to_string(last.problem);
}

/// A stretch is visited from its first group to its last.
void add_visits(std::span<const group> plan, std::size_t begin, std::size_t end, bool is_last, const measuring& how,
                bool apart, std::vector<visit>& to) {
  for (std::size_t i = begin; i < end; ++i) {
    const bool has_inputs = !apart && (is_last || (!to.empty() && follows(plan[i], plan[to.back().group])));
    to.push_back(
        {i, is_last, cost_of_rows(plan[i], how, is_last) + (has_inputs ? 0 : cost_of_inputs(plan[i].problem))});
  }
}

}  // namespace

std::vector<visit> visits_of(std::span<const group> plan, const measuring& how, bool apart) {
  std::vector<visit> all;
  for (std::size_t begin = 0, end; begin < plan.size(); begin = end) {
    double cost = cost_of_rows(plan[begin], how, false);
    for (end = begin + 1; end < plan.size() && cost < longest_stretch_ns / visits_of_each; ++end)
      cost += cost_of_rows(plan[end], how, false);
    for (const bool is_last : {false, true}) add_visits(plan, begin, end, is_last, how, apart, all);
  }
  return all;
}

stop_rule of_one_visit(stop_rule both) {
  both.min_ns /= visits_of_each;
  both.max_ns /= visits_of_each;
  return both;
}

namespace {

/// The key of a row; it is equal at every size.
std::string key_of(const group& g, const row& r) {
  std::string key = r.id() + " " + r.on->info().name + " " + registry::to_string(r.tuning, r.variant->tuning) + " " +
                    std::string(name_of(g.problem.type));
  for (const auto& [name, word] : registry::named_settings(g.problem))
    key.append(" ").append(name).append("=").append(word);
  return key;
}

/// By how much the work grows: in operations, which include time steps, or in bytes if the algorithm counts no
/// operations.
double growth_of(const registry::problem& to, const registry::problem& from) {
  const double operations = from.what->operations(from), bytes = from.what->compulsory_bytes(from);
  if (operations > 0) return to.what->operations(to) / operations;
  return bytes > 0 ? to.what->compulsory_bytes(to) / bytes : 1;
}

}  // namespace

std::string seconds(double ns) {
  char text[32];
  if (ns < 99.5e6)
    std::snprintf(text, sizeof text, "%.0f ms", ns * 1e-6);
  else
    std::snprintf(text, sizeof text, ns < 9.95e9 ? "%.1f s" : "%.0f s", ns * 1e-9);
  return text;
}

bool is_of_document(const group& g, const row& r) {
  return g.from != nullptr && r.is_default_tuning() &&
         (method_of(*g.from, r.id(), r.place()) != nullptr || g.from->baseline == r.id());
}

std::vector<pace_of_row> paces_of(std::span<const measured> rows) {
  std::vector<pace_of_row> all;
  for (const measured& m : rows) {
    pace_of_row& one = all.emplace_back();
    if (m.is_ok()) one.ns = m.quickest_ns();
    one.was_too_slow = m.result.state == record::status::skipped && !m.failure;
  }
  return all;
}

pace::pace(std::span<const group> plan, const measuring& how, double elapsed_ns, bool apart)
    : rule_(how.rule),
      visits_(visits_of(plan, how, apart)),
      cost_from_(visits_.size() + 1, 0),
      started_(now_ns() - static_cast<std::int64_t>(elapsed_ns)) {
  for (std::size_t step = visits_.size(); step-- > 0;) cost_from_[step] = cost_from_[step + 1] + visits_[step].cost_ns;
}

stop_rule pace::rule_at(std::size_t step, double elapsed_ns) const {
  const double share = std::clamp((said_ns() - elapsed_ns) / cost_from_[step], 0.25, 1.0);
  stop_rule shorter = of_one_visit(rule_);
  shorter.min_ns *= share;
  shorter.max_ns *= share;
  return shorter;
}

void pace::limit(std::size_t step, const group& g, measuring& how) const {
  constexpr double worth_waiting_ns = 5e9, compiling_ns = 10e9;
  how.rule = rule_at(step, as_first_rank(static_cast<double>(now_ns() - started_)));
  how.first_checks_ns = std::max(visits_[step].cost_ns, compiling_ns);
  if (g.from == nullptr) how.longest_first_call_ns = std::max(4 * rule_.max_ns, worth_waiting_ns);
}

std::pair<double, const pace::timed_size*> pace::expected(const group& g, const row& r) const {
  const auto found = known_.find(key_of(g, r));
  if (found == known_.end()) return {0, nullptr};
  const timed_size* largest = nullptr;
  for (const timed_size& t : found->second) {
    if (growth_of(g.problem, t.problem) < 1) continue;
    if (largest == nullptr || growth_of(t.problem, largest->problem) > 1) largest = &t;
  }
  if (largest == nullptr) return {0, nullptr};
  // The overhead of a call does not grow with the size. A busy team of threads has taken this long to start.
  constexpr double longest_start_ns = 2e6;
  return {std::max(0.0, largest->ns - longest_start_ns) * growth_of(g.problem, largest->problem), largest};
}

group pace::affordable(group g) {
  constexpr double about_as_fast = 1.5;
  double least = std::numeric_limits<double>::infinity();
  for (row& r : g.rows) {
    if (!r.skip.empty()) continue;
    if (const auto at = too_slow_.find(key_of(g, r)); at != too_slow_.end() && growth_of(g.problem, at->second) >= 1)
      r.skip = "it was left out at n=" + registry::to_string(at->second.shape) + " already";
    else if (const auto [ns, by] = expected(g, r); by != nullptr && !is_limit(*r.variant))
      least = std::min(least, ns);
  }
  for (row& r : g.rows) {
    if (!r.skip.empty() || is_of_document(g, r)) continue;
    const auto [ns, by] = expected(g, r);
    if (by == nullptr || ns <= rule_.max_ns || ns <= about_as_fast * least) continue;
    too_slow_.emplace(key_of(g, r), g.problem);
    r.skip = "a call would take about " + seconds(ns) + ", judged by n=" + registry::to_string(by->problem.shape) +
             ", and all samples of a row together " + seconds(rule_.max_ns) + " (--max-time)";
  }
  return g;
}

void pace::note(const group& g, std::span<const pace_of_row> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string key = key_of(g, g.rows[i]);
    if (rows[i].ns) known_[key].push_back({g.problem, as_first_rank(*rows[i].ns)});
    if (rows[i].was_too_slow && g.rows[i].skip.empty()) too_slow_.emplace(key, g.problem);
  }
}

}  // namespace tilewise::lab
