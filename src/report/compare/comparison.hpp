// SPDX-License-Identifier: Apache-2.0
// Records of the same cases from before and after a change: what became faster, slower or wrong.
//
// The ratio of two medians has a 95 % interval from the medians' own, which lie between order statistics and assume
// nothing about the distribution of times: their distances from the medians, on logarithms, are squared and added
// (MOVER: Zou and Donner, Construction of confidence limits about effect measures, Statistics in Medicine 27, 2008,
// pages 1693-1702). It follows the skew of times, and is too wide rather than too narrow with few samples.
//
// Samples of one run do not show what moves all of them, such as where its memory lay. The noise floor stands for that:
// the larger of both runs' and of 1 %. A machine may also change from run to run by more than within one, which shows
// in the peers, whose code did not change, and in the limits of the device: the noise floor is at least what they
// surely differ by that were measured alternately with the row. A neighbour comes and goes between two rows of a group,
// and between two visits of a run to one row. Of several runs of both builds the floor is also at least what nine
// tenths of the rows on the processor that take about as long surely differ by between their visits, or between their
// runs. One run of each does not show what a process has for its whole life, such as where its memory lies: there it is
// at least what hardly one in thousands of those rows, and of all of the processor, should differ by, reckoned from
// what 95 % do. Where no row was visited twice, what 95 % of the processor's peers and limits surely differ by stands
// for that. Only an interval that lies beyond the floor as a whole is faster or slower. Times that agree within the
// floor of both runs are the same, whatever the controls do. Beyond that the number of rows is not corrected for;
// each verdict is about its own row.
#pragma once

#include "report/model.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace tilewise::report {

/// The cases of a file of records. Several runs of one build are one measurement: what moves all samples of a run, such
/// as where a process's memory lies or what the machine did meanwhile, shows only between runs.
struct measured_cases {
  std::vector<const row*> rows;                  // one of each case, in the order of their first records
  std::size_t most_runs = 1;                     // that one of them was joined from
  std::size_t replaced = 0;                      // records that a later one stands for
  std::set<std::string_view> why_replaced = {};  // of a record and that later one: "they are of different builds"
  std::deque<row> joined = {};                   // what `rows` point to beside the table
};

/// The same bits are due of both where the order, the input and what is claimed are the same.
bool digests_differ(const row& a, const row& b);

/// Of the records of a case the last one counts, with those before it that are of the same clean build on the same
/// hardware. If one of these is wrong, or else failed, that one stands for all: a later run that went well does not
/// undo it. If not, those with times are joined: then the median is that of the runs', the interval reaches to the ends
/// of all, `visits_effect` is at least the gap between the runs, and runs with other bits are wrong. Points into the
/// table.
measured_cases cases_of(const row_table& rows);

/// In the order in which they are told.
enum class verdict : std::uint8_t { wrong, slower, unclear, faster, same };
inline constexpr std::array all_verdicts{verdict::wrong, verdict::slower, verdict::unclear, verdict::faster,
                                         verdict::same};
constexpr std::string_view name_of(verdict v) {
  constexpr std::array<std::string_view, all_verdicts.size()> names{"wrong", "slower", "unclear", "faster", "same"};
  return names[static_cast<std::size_t>(v)];
}

/// The smallest difference that counts, as a share: 1 % or the noise floor of the row's run.
double smallest_effect(const row& r);
/// Of a speed over another: the whole interval must lie beyond the smallest effect, or within it.
verdict judged(const interval& speed, double smallest_effect);

/// A case of both files, or one of NEW alone that is wrong.
struct compared_case {
  const row* before;  // or null
  const row* after;
  verdict is = verdict::unclear;
  std::string why{};                // of what is wrong, and of what is unclear for another reason than its interval
  std::optional<interval> ratio{};  // time after / time before; none for what is wrong
  double noise_floor = 0;           // as a share
  double usual_noise = 0;           // as if it were of several runs
};

/// A case that cannot be compared.
struct left_out_case {
  const row* what;
  std::string why;
};

struct comparison {
  std::vector<compared_case> cases;  // by verdict, then in the order of NEW
  std::vector<left_out_case> left_out;
  std::vector<std::string> remarks;  // sentences: what else than the code differs, and records that do not count
  std::size_t pairs = 0;             // cases that both files have, with or without times
  measured_cases before, after;      // what the cases point to

  std::size_t count(verdict v) const;
};

/// Cases agree in case_key. A variant that each file has with one tuning is one case, whatever the tunings are, since a
/// change may be that of its default. What was wrong or failed before it was timed, and does not know its threads, is
/// compared with each row of OLD that it may be. Several records of a case are what cases_of makes of them. Points into
/// both tables.
comparison compare(const row_table& before, const row_table& after);

struct mean_ratio {
  std::size_t rows = 0;
  interval value;  // all three are set
};

/// The geometric mean of the ratios that have an interval, of ours or of the peers. In its own interval the rows'
/// errors are independent, and the usual noise of a group moves all rows of the group together.
std::optional<mean_ratio> mean_of(std::span<const compared_case> cases, bool of_peers);

}  // namespace tilewise::report
