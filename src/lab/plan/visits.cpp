// SPDX-License-Identifier: Apache-2.0
#include "lab/plan/visits.hpp"

#include "lab/bench/operand_sets.hpp"
#include "lab/verify/verify.hpp"

#include <algorithm>

namespace tilewise::lab {

namespace {

constexpr double longest_stretch_ns = 60e9;
/// What is not timed, on one core: making inputs and comparing results, and computing the definition.
constexpr double bytes_per_ns = 1, operations_per_ns = 0.5;
/// Of the time that a row's samples may take: they, warming up, and what the last round takes beyond.
constexpr double share_of_samples = 1.2;
/// Likewise a round trip and a call on host memory, a fifth as long each; at the first visit.
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
  return static_cast<double>(timed) * (samples + transfers + checks) + samples;  // one of them is timed twice
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

}  // namespace tilewise::lab
