// SPDX-License-Identifier: Apache-2.0
// What differs between two runs of the same code, by the rows that show it: peers and limits, visits, and ratios
// between rows that were measured in turns. comparison.hpp says how it is used.
#pragma once

#include "report/compare/comparison.hpp"

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewise::report {

/// The ratio of two medians, with an interval if both have a valid one.
interval ratio_of(const interval& after, const interval& before);

bool is_plausible(const compared_case& c);

/// The smallest bound below which this share of further effects of the same kind lies (a conformal bound). If there are
/// few effects, the largest of them.
double bound_of(std::vector<double>& effects, double share);

/// All executors of a CPU are one processor.
std::string_view processor_of(const row& r);

/// The effects that the controls surely show: peers, whose code did not change, and the limits of processors. Controls
/// in a row's group were measured in turns with it. All controls on its processor show how well runs repeat there.
class control_effects {
 public:
  explicit control_effects(std::span<const compared_case> cases);
  double in_group(const row& r) const;
  double on_processor(const row& r) const;

 private:
  using key = std::pair<std::string_view, std::string_view>;

  std::map<key, double> of_group_;
  std::map<std::string_view, double> usual_;
};

/// The effects that surely exist between the visits to a row, and between its runs.
class visit_effects {
 public:
  explicit visit_effects(std::span<const compared_case> cases);
  /// The noise floor for several runs: the usual effect among rows that take about as long, which the same disturbances
  /// shift alike. None if no row of the processor was visited twice.
  std::optional<double> usual(const compared_case& c) const { return near(c, 0.9); }
  /// The noise floor for one run of each build. What a process keeps for its whole life shows in none of its visits, so
  /// the floor is a difference that none of hundreds of rows exceeds, among those that take about as long and among
  /// all. There are too few visits to show that tail directly.
  double rare(const compared_case& c) const;

 private:
  using visited_rows = std::vector<std::pair<double, double>>;  // time and effect, shortest time first

  /// Considers rows that take about as long as either time of the case, so that the floor does not depend on which file
  /// is OLD.
  std::optional<double> near(const compared_case& c, double share) const;

  std::map<std::string_view, visited_rows> seen_;
  std::map<std::string_view, double> rare_anywhere_;
};

/// Times relative to the peers of a row's group. Load on the machine slows both of a pair that is measured in turns, so
/// this may be steady while times are not. Ratios between the peers and limits of a group, whose code did not change,
/// show how well ratios repeat.
class relative_times {
 public:
  explicit relative_times(std::span<const compared_case> cases);
  /// How the time of a row of ours changed relative to each peer, narrowest interval first.
  std::vector<relative_time> of(const compared_case& c) const;

 private:
  using cases_of_group = std::vector<const compared_case*>;

  std::map<std::string_view, cases_of_group> peers_;
  std::map<const compared_case*, double> of_peer_;  // the largest effect relative to another control of its group
  std::map<std::string_view, double> usual_;        // what 95 % of the ratios between peers on the processor differ by
};

}  // namespace tilewise::report
