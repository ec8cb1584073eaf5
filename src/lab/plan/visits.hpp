// SPDX-License-Identifier: Apache-2.0
// In what order the groups of a plan are measured, and how long that may take. Each is visited twice, half a minute
// apart and with memory of its own: what lasts for a while, such as a neighbour on the machine or where the operands
// lie, moves all samples of a visit alike, and only another visit shows it.
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
  std::size_t group;  // of the plan
  bool is_last;       // its second
  double cost_ns;     // what it takes at most
};

/// Stretches of the plan, each from its begin to its end and then once more; whoever ends a run loses one stretch at
/// most. `apart`: each visit in a process of its own, which makes all inputs anew.
std::vector<visit> visits_of(std::span<const group> plan, const measuring& how, bool apart = false);

/// What one visit takes of the time that both have.
stop_rule of_one_visit(stop_rule both);

/// "0.3 s", "31 s"
std::string seconds(double ns);

/// What a measured row says of its next sizes; nothing, where it failed.
struct pace_of_row {
  std::optional<double> ns{};  // its fastest call
  bool was_too_slow = false;   // it was left out for its time
};
std::vector<pace_of_row> paces_of(std::span<const measured> rows);

/// A program of the document that asks for the group, with no tuning of a sweep: it is never left out for its time.
bool is_of_document(const group& g, const row& r);

/// Keeps a plan to the time that is said beforehand. Naive programs at large sizes would take most of it: what a
/// smaller size of the same row shows to be too slow is left out, and where groups took longer than thought, those that
/// follow get less.
class pace {
 public:
  /// Of these groups, measured so; the clock started that long ago. `apart`: each visit in a process of its own.
  pace(std::span<const group> plan, const measuring& how, double elapsed_ns = 0, bool apart = false);

  /// What all groups take at most, in nanoseconds: making the inputs and the definition's results, checks, warming up,
  /// samples and transfers. Without what a driver's compiler takes at a kernel's first call, which nothing tells
  /// beforehand.
  double said_ns() const { return cost_from_.front(); }

  const std::vector<visit>& visits() const { return visits_; }
  /// The rule for the next visit when so much time has passed: shorter where time was lost, but never below a quarter.
  stop_rule rule_at(std::size_t step, double elapsed_ns) const;
  /// Sets what this visit to the group may take, for rows that no smaller size told of.
  void limit(std::size_t step, const group& g, measuring& how) const;

  /// The group with a reason to skip each row one call of which, by its own time at a smaller size, takes longer than
  /// all its samples may; at larger sizes it stays out. What is about as fast as the fastest of the group stays, and so
  /// do a document's own programs.
  group affordable(group g);

  /// What that is judged by.
  void note(const group& g, std::span<const measured> rows) { note(g, paces_of(rows)); }
  void note(const group& g, std::span<const pace_of_row> rows);

 private:
  struct timed_size {
    registry::problem problem;
    double ns;
  };
  /// The expected time of a call and the size that it is known by; null where no smaller size was timed.
  std::pair<double, const timed_size*> expected(const group& g, const row& r) const;

  stop_rule rule_;
  std::vector<visit> visits_;
  std::vector<double> cost_from_;  // of the visits from each on; 0 after the last
  std::int64_t started_;
  std::map<std::string, std::vector<timed_size>> known_;  // of each row
  std::map<std::string, registry::problem> too_slow_;     // the smallest that each row was left out of
};

}  // namespace tilewise::lab
