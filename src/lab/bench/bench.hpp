// SPDX-License-Identifier: Apache-2.0
// Measures a whole plan. Groups are measured one at a time, and each is visited twice (visits.hpp). Both visits to a
// row make one record.
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
  /// The inputs and reference of the group's problem. They are made at the first call, and again if they were dropped
  /// in between: the oldest are dropped while all together would take more than a quarter of the host's free memory.
  const verified_case& of(const group& g, const measuring& how);
  /// Drops all inputs and references.
  void forget() { all_.clear(); }

 private:
  struct known {
    const experiment* from;
    verified_case made;
  };
  void make_room(std::uint64_t bytes);

  std::list<known> all_;  // the oldest first
};

/// The group for its last visit. Rows to which a second visit would add nothing are left out: rows without a time, and
/// rows whose single call takes longer than all samples of a row may.
group to_visit_again(group what, std::span<const measured> found, const stop_rule& both);

/// Joins what each row of the group found at its first visit with what it found at its last. A row that was wrong or
/// failed at either visit has no time.
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
  /// `both` is the stop rule for both visits to a row together.
  visitor(const stop_rule& both, const bench_events& events) : both_(both), events_(events) {}

  std::vector<measured> first(const group& g, const measuring& how);
  /// Takes the rows of the first visit. Returns the group's records, and runs the document's whole run if it has one.
  std::vector<measured> last(const group& g, std::vector<measured> found, measuring how);

 private:
  const stop_rule both_;
  const bench_events& events_;
  known_cases cases_;
};

/// Measures the plan. It stops after the visit during which hooks.interrupted became true; everything that was measured
/// is still delivered. `kept` is the plan's pace; without it each row may use all the time of its rule.
void run_bench(std::span<const group> plan, const measuring& how, const bench_events& events, pace* kept = nullptr);

}  // namespace tilewise::lab
