// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/bench.hpp"

#include "io/host_memory.hpp"
#include "lab/bench/agreement.hpp"
#include "lab/bench/derive.hpp"
#include "lab/bench/describe.hpp"
#include "lab/bench/measure.hpp"
#include "lab/bench/operand_sets.hpp"
#include "record/fields.hpp"

#include <algorithm>
#include <map>

namespace tilewise::lab {

namespace {

bool same_problem(const registry::problem& a, const registry::problem& b) {
  return a.what == b.what && a.type == b.type && a.shape == b.shape && a.setting == b.setting && a.number == b.number;
}

verified_case case_of(const group& g, const measuring& how) {
  if (g.has_own_inputs()) return make_case(g.problem, g.from->inputs(g.problem));
  return make_case(g.problem, g.made_of(), how.seed);
}

}  // namespace

const verified_case& known_cases::of(const group& g, const measuring& how) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const known& k) {
    return k.from == g.from && same_problem(k.made.problem, g.problem);
  });
  if (found != all_.end()) return found->made;
  make_room(operand_bytes(g.problem));
  return all_.emplace_back(known{g.from, case_of(g, how)}).made;
}

void known_cases::make_room(std::uint64_t bytes) {
  std::uint64_t kept = 0;
  for (const known& k : all_) kept += operand_bytes(k.made.problem);
  const std::uint64_t most = (io::available_host_memory() + kept) / 4;
  for (; !all_.empty() && kept + bytes > most; all_.pop_front()) kept -= operand_bytes(all_.front().made.problem);
}

namespace {

void join(const std::optional<record::clock>& first, std::optional<record::clock>& last) {
  if (first) last = last ? joined(*first, *last) : *first;
}

/// The noise of both visits is the larger of the two.
void join(const std::optional<record::noise>& first, std::optional<record::noise>& last) {
  if (first && (!last || first->min_effect > last->min_effect)) last = first;
}

/// The phases of both visits are the means of their medians.
void join(const record::added<record::phases>& first, record::added<record::phases>& last) {
  if (!first || !last) return;
  record::each_field<record::phases>([&](const auto& f) {
    auto& ns = (*last).*f.member;
    if (const auto& before = (*first).*f.member; ns && before) *ns = (*ns + *before) / 2;
  });
}

/// Copies what was measured beside the kernel's time at the first visit, since the last visit does not repeat it.
void keep_beside(const record::result& first, record::result& last) {
  for (const auto part : {&record::timing::h2d, &record::timing::d2h, &record::timing::round_trip})
    (*last.timing).*part = (*first.timing).*part;
  if (first.timing->kernel) last.timing->end_to_end = first.timing->end_to_end;
  last.ranks = first.ranks;
}

/// Whether the last visit ended with a result, and not for lack of time or memory that the first visit had.
bool is_known_again(const measured& last) {
  return last.time() != nullptr || last.result.state == record::status::wrong ||
         last.result.state == record::status::failed || last.result.state == record::status::timeout;
}

void join(measured first, measured& last) {
  if (!first.is_ok() || !is_known_again(last)) return std::swap(first, last);
  if (last.time() == nullptr) return;
  record::timing &from = *first.result.timing, &to = *last.result.timing;
  join(first.result.noise, last.result.noise);
  if (last.result.noise) last.result.noise->visits_effect.emplace(visits_effect(*first.time(), *last.time()));
  join(from.kernel, to.kernel);
  if (!from.kernel) join(from.end_to_end, to.end_to_end);
  join(from.phases, to.phases);
  to.first_call_ns = from.first_call_ns;
  keep_beside(first.result, last.result);
  if (last.is_ok()) last.result.reason.reset();  // it explained why the last visit's own times were implausible
}

}  // namespace

group to_visit_again(group what, std::span<const measured> found, const stop_rule& both) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const record::clock* const taken = found[i].time();
    if (!found[i].is_ok() || taken == nullptr)
      what.rows[i].skip = "it has no time from the first visit";
    else if (as_first_rank(taken->n == 1 && *found[i].quickest_ns() >= both.max_ns ? 1 : 0) != 0)
      what.rows[i].skip = "one call takes as long as all samples may";
  }
  return what;
}

void join(const group& what, std::vector<measured> first, std::vector<measured>& last) {
  for (std::size_t i = 0; i < last.size(); ++i) join(std::move(first[i]), last[i]);
  derive(what, last);
  for (measured& m : last) hold_against_round_trip(m);
}

namespace {

/// Why the definition's result differs from the document's; empty if it does not. A difference means a fault in the
/// definition or the inputs.
std::string not_as_published(const group& g, const verified_case& inputs) {
  if (g.from == nullptr) return "";
  const std::string published(g.from->at(g.problem.shape)->first_outputs);
  const auto values = static_cast<std::uint64_t>(std::count(published.begin(), published.end(), ' ')) + 1;
  const std::string ours = first_values(inputs, values);
  if (published.empty() || ours == published) return "";
  return "the definition's result begins " + ours + ", but the document's begins " + published;
}

/// The fastest of all rows that keep the order; it represents them, since their bits are equal.
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

/// The rows that take the document's whole run.
std::vector<std::size_t> runners_of(const group& g, std::span<const measured> rows) {
  const measured_size* const size = g.from == nullptr ? nullptr : g.from->at(g.problem.shape);
  std::vector<std::size_t> runners;
  if (size == nullptr || size->course == nullptr) return runners;
  for (std::size_t i = 0; size->is_course_of_programs && i < rows.size(); ++i)
    if (rows[i].is_ok() && rows[i].time() != nullptr && rows[i].result.experiment->system) runners.push_back(i);
  if (const auto fastest = fastest_in_order(rows); fastest && !size->is_course_of_programs) runners.push_back(*fastest);
  return runners;
}

/// Runs the document's whole run from its start. If that throws, the times are kept.
void add_course(const group& g, const row& by, const measuring& how, record::course& course) {
  const auto goes_on = [&] { return !how.hooks.interrupted(); };
  try {
    g.from->at(g.problem.shape)->course({by.variant, by.tuning, "measured"}, by.on->queue(), goes_on, course);
    if (how.hooks.interrupted()) course.stopped = "Ctrl-C";
  } catch (const std::exception& failure) {
    how.hooks.on_failure(failure);
    course.stopped = failure.what();
  }
}

void add_courses(const group& g, const measuring& how, const bench_events& events, std::span<measured> rows) {
  for (const std::size_t i : runners_of(g, rows)) {
    if (how.hooks.interrupted()) return;
    events.before_course(g.rows[i]);
    add_course(g, g.rows[i], how, rows[i].result.course.emplace());
  }
}

std::vector<measured> measured_rows(const group& g, const verified_case& inputs, const measuring& how) {
  const std::string fault = not_as_published(g, inputs);
  if (!fault.empty()) return describe_unmeasured(g, how, record::status::failed, fault);
  std::vector<measured> rows = measure_group(g, inputs, how);
  if (g.from == nullptr || g.from->check.of == nullptr) return rows;
  const std::string value = g.from->check.of(g.problem, inputs.expected);
  for (measured& m : rows) {
    m.result.experiment->check.emplace(g.from->check.name);
    m.result.experiment->check_value.emplace(value);
  }
  return rows;
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
  add_courses(g, how, events_, rows);
  return rows;
}

void run_bench(std::span<const group> plan, const measuring& asked, const bench_events& events, pace* kept) {
  struct visited {
    group what;
    std::vector<measured> rows;
  };
  std::map<std::size_t, visited> found;  // groups whose last visit is still to come
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
  for (const auto& [at, once] : found) events.on_group(once.what, once.rows);  // interrupted before their last visit
}

}  // namespace tilewise::lab
