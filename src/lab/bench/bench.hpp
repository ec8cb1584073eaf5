// SPDX-License-Identifier: Apache-2.0
// A whole plan: groups are measured one at a time and visited twice (visits.hpp), and both visits to a row make one
// record.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/plan/visits.hpp"
#include "lab/verify/verify.hpp"

#include <list>

namespace tilewise::lab {

/// Inputs and references of the groups, kept for their second visits.
class known_cases {
 public:
  /// Made at the first call for a problem, and again if it went meanwhile: what is oldest goes while all would take
  /// more than a quarter of the host's free memory.
  const verified_case& of(const group& g, const measuring& how);
  /// Gives all memory back.
  void forget() { all_.clear(); }

 private:
  struct known {
    const experiment* from;
    verified_case made;
  };
  void make_room(std::uint64_t bytes);

  std::list<known> all_;  // the oldest first
};

/// The group for its last visit, without the rows that a second visit would say nothing of: those that have no time,
/// and those one call of which outlasts all samples of a row.
group to_visit_again(group what, std::span<const measured> found, const stop_rule& both);

/// Of the group's rows: what each found at its first visit joins what it found at its last. A row that was wrong or
/// failed at either has no time.
void join(const group& what, std::vector<measured> first, std::vector<measured>& last);

struct bench_events {
  std::function<void(const group&, std::size_t step, std::size_t steps)> before_visit = [](const group&, std::size_t,
                                                                                           std::size_t) {};
  std::function<void(std::span<const measured>)> on_first_visit = [](std::span<const measured>) {};
  std::function<void(const row& by)> before_course = [](const row&) {};
  std::function<void(const group&, std::span<const measured>)> on_group = [](const group&, std::span<const measured>) {
  };
};

/// Visits groups.
class visitor {
 public:
  /// `both`: the rule of both visits to a row together.
  visitor(const stop_rule& both, const bench_events& events) : both_(both), events_(events) {}

  std::vector<measured> first(const group& g, const measuring& how);
  /// With the first visit's rows: the group's records, and its document's run.
  std::vector<measured> last(const group& g, std::vector<measured> found, measuring how);

 private:
  const stop_rule both_;
  const bench_events& events_;
  known_cases cases_;
};

/// Stops after the visit during which hooks.interrupted became true; all that was measured is still delivered.
/// `kept` is the plan's pace; without one each row has the whole time of its rule.
void run_bench(std::span<const group> plan, const measuring& how, const bench_events& events, pace* kept = nullptr);

}  // namespace tilewise::lab
