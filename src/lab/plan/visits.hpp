// SPDX-License-Identifier: Apache-2.0
// The order in which the groups of a plan are measured, and how long that may take. Each group is visited twice, half a
// minute apart and with newly allocated memory. Some disturbances last for a while, such as other load on the machine
// or where the operands lie in memory. They shift all samples of one visit alike, so only a second visit shows them.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"

#include <map>
#include <span>
#include <vector>

namespace tilewise::lab {

constexpr double visits_of_each = 2;

struct visit {
  std::size_t group;  // index in the plan
  bool is_last;       // the second visit to the group
  double cost_ns;     // at most
};

/// Splits the plan into stretches and visits each stretch twice from its begin to its end, so that a run that is ended
/// early loses one stretch at most. `apart`: each visit runs in a process of its own, which makes all inputs again.
std::vector<visit> visits_of(std::span<const group> plan, const measuring& how, bool apart = false);

/// The rule for one visit, from the rule for both.
stop_rule of_one_visit(stop_rule both);

/// "0.3 s", "31 s"
std::string seconds(double ns);

/// What a measured row tells about larger sizes; empty if it failed.
struct pace_of_row {
  std::optional<double> ns{};  // its fastest call
  bool was_too_slow = false;   // it was skipped for its time
};
std::vector<pace_of_row> paces_of(std::span<const measured> rows);

/// Whether the row repeats a program of the document that asks for the group, with its own tuning and not one of a
/// sweep. Such a row is never left out for its time.
bool is_of_document(const group& g, const row& r);

/// Keeps a plan within the time that is announced at its start. Naive programs at large sizes would take most of that
/// time. So a row is left out if a smaller size showed that it is too slow, and if groups take longer than expected,
/// later groups get less time.
class pace {
 public:
  /// `elapsed_ns` is how long ago the run started. `apart`: each visit runs in a process of its own.
  pace(std::span<const group> plan, const measuring& how, double elapsed_ns = 0, bool apart = false);

  /// The most that all groups take, in nanoseconds: making the inputs and the definition's results, checks, warm-up,
  /// samples and transfers. It does not count what a driver needs to compile a kernel at its first call, which cannot
  /// be known in advance.
  double said_ns() const { return cost_from_.front(); }

  const std::vector<visit>& visits() const { return visits_; }
  /// The rule for the next visit at this elapsed time. It is shorter if time was lost, but never less than a quarter.
  stop_rule rule_at(std::size_t step, double elapsed_ns) const;
  /// Sets how long this visit's first calls may take, for rows of which no smaller size was timed.
  void limit(std::size_t step, const group& g, measuring& how) const;

  /// The group, with a reason to skip each row that is too slow: one call, estimated from a smaller size, would take
  /// longer than all samples of the row may. Such a row is also skipped at all larger sizes. Rows about as fast as the
  /// group's fastest are kept, and so are a document's own programs.
  group affordable(group g);

  /// Records the times that affordable() uses.
  void note(const group& g, std::span<const measured> rows) { note(g, paces_of(rows)); }
  void note(const group& g, std::span<const pace_of_row> rows);

 private:
  struct timed_size {
    registry::problem problem;
    double ns;
  };
  /// The expected time of a call, and the smaller size it is estimated from; null if none was timed.
  std::pair<double, const timed_size*> expected(const group& g, const row& r) const;

  stop_rule rule_;
  std::vector<visit> visits_;
  std::vector<double> cost_from_;  // of the visits from each step on; 0 after the last
  std::int64_t started_;
  std::map<std::string, std::vector<timed_size>> known_;  // by row
  std::map<std::string, registry::problem> too_slow_;     // by row: the smallest size at which it was left out
};

}  // namespace tilewise::lab
