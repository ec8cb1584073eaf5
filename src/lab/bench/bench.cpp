// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/bench.hpp"

#include "lab/bench/agreement.hpp"
#include "lab/bench/describe.hpp"
#include "lab/bench/join.hpp"
#include "lab/bench/measure.hpp"
#include "lab/plan/shortage.hpp"

#include <algorithm>
#include <map>

namespace tilewise::lab {

namespace {

/// If the definition's result begins unlike the document's, there is a fault in the definition or the inputs.
std::string not_as_published(const group& g, const verified_case& inputs) {
  if (g.from == nullptr) return "";
  const std::string published(g.from->at(g.problem.shape)->first_outputs);
  const auto values = static_cast<std::uint64_t>(std::count(published.begin(), published.end(), ' ')) + 1;
  const std::string ours = first_values(inputs, values);
  if (published.empty() || ours == published) return "";
  return "the definition's result begins " + ours + ", but the document's begins " + published;
}

/// The row that represents all those with the order's bits: the fastest.
std::optional<std::size_t> fastest_in_order(std::span<const measured> rows) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const measured& m = rows[i];
    const bool is_right = m.result.verify && m.is_ok() && m.time() != nullptr;
    if (!is_right || m.result.what.order != registry::claim::tilewise) continue;
    if (!best || *m.time()->median_ns < *rows[*best].time()->median_ns) best = i;
  }
  return best;
}

/// The document's run from its start. If it throws, no times are lost.
void add_course(const group& g, const measuring& how, const bench_events& events, std::span<measured> rows) {
  const auto run = g.from == nullptr ? nullptr : g.from->at(g.problem.shape)->course;
  if (run == nullptr || how.hooks.interrupted()) return;
  const auto shown = fastest_in_order(rows);
  if (!shown) return;
  const row& by = g.rows[*shown];
  events.before_course(by);
  record::course& course = rows[*shown].result.course.emplace();
  const auto goes_on = [&] { return !how.hooks.interrupted(); };
  try {
    run({by.variant, by.tuning, "the fastest"}, by.on->queue(), goes_on, course);
    if (how.hooks.interrupted()) course.stopped = "Ctrl-C";
  } catch (const std::exception& failure) {
    how.hooks.on_failure(failure);
    course.stopped = failure.what();
  }
}

std::vector<measured> measured_rows(const group& g, const verified_case& inputs, const measuring& how) {
  const std::string fault = not_as_published(g, inputs);
  return fault.empty() ? measure_group(g, inputs, how) : describe_unmeasured(g, how, record::status::failed, fault);
}

}  // namespace

std::vector<measured> visitor::first(const group& g, const measuring& how) {
  std::string shortage;
  const auto lacks_memory = [&] {
    shortage = memory_shortage(g, how);
    return as_first_rank(shortage.empty() ? 0 : 1) != 0;
  };
  if (lacks_memory()) {
    cases_.forget();
    if (lacks_memory()) return describe_shortage(g, how, shortage);
  }
  return measured_rows(g, cases_.of(g, how), how);
}

std::vector<measured> visitor::last(const group& g, std::vector<measured> found, measuring how) {
  how.with_transfers = false;  // those of the first visit are enough
  std::vector<measured> rows = first(to_visit_again(g, found, both_), how);
  join(g, std::move(found), rows);
  add_course(g, how, events_, rows);
  return rows;
}

void run_bench(std::span<const group> plan, const measuring& asked, const bench_events& events, pace* kept) {
  struct visited {
    group what;
    std::vector<measured> rows;
  };
  std::map<std::size_t, visited> found;  // of groups whose last visit is to come
  visitor goes(asked.rule, events);
  const std::vector<visit> visits = kept == nullptr ? visits_of(plan, asked) : kept->visits();
  for (std::size_t step = 0; step < visits.size() && !asked.hooks.interrupted(); ++step) {
    const auto [at, is_last, cost] = visits[step];
    measuring how = asked;
    how.rule = of_one_visit(asked.rule);
    group current = is_last ? found.at(at).what : kept == nullptr ? plan[at] : kept->affordable(plan[at]);
    if (kept != nullptr) kept->limit(step, current, how);
    events.before_visit(current, step, visits.size());
    if (!is_last) {
      std::vector<measured> rows = goes.first(current, how);
      if (kept != nullptr) kept->note(current, rows);
      events.on_first_visit(rows);
      found.emplace(at, visited{std::move(current), std::move(rows)});
      continue;
    }
    std::vector<measured> before = std::move(found.extract(at).mapped().rows);
    events.on_group(current, goes.last(current, std::move(before), how));
  }
  for (const auto& [at, once] : found) events.on_group(once.what, once.rows);  // an interrupt left no time for more
}

}  // namespace tilewise::lab
