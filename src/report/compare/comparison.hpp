// SPDX-License-Identifier: Apache-2.0
// Compares records of the same cases from before and after a change: what became faster, slower or wrong.
//
// The 95 % interval of the ratio of two medians is made from the medians' own intervals. These lie between order
// statistics and assume nothing about the distribution of times. The distances of their ends from the medians, as
// logarithms, are squared and added (MOVER: Zou and Donner, Construction of confidence limits about effect measures,
// Statistics in Medicine 27, 2008, pages 1693-1702). The result follows the skew of times. With few samples it is too
// wide rather than too narrow.
//
// A row is faster or slower only if its whole interval lies beyond the noise floor. The samples of one run do not show
// what shifts all of them, such as where its memory lay; the noise floor covers that. It is at least:
//
// - 1 %, and the noise floor that each of the two runs measured;
// - the least by which those peers and limits differ that were measured in turns with the row: their code did not
//   change, so they show how much the machine changed from run to run;
// - with several runs of both builds: what nine tenths of the rows on the processor that take about as long differ by,
//   between their visits or between their runs, since other load comes and goes between rows, and between visits to one
//   row;
// - with one run of each build, which does not show what a process keeps for its whole life: the difference that hardly
//   one in thousands of those rows, and of all rows of the processor, should exceed, estimated from what 95 % of them
//   do. If no row was visited twice, it is estimated from the processor's peers and limits.
//
// A row may also be judged by its time relative to a peer that was measured in turns with
// it: other load slows both alike. Records have these ratios, with intervals that cover both visits. The peer with the
// narrowest interval counts, if that and its noise floor are narrower than the time's and its. That noise floor is what
// the runs measured themselves, what the peer surely differs by relative to other peers and limits of its group, and
// what 95 % of the ratios between peers on the processor differ by, sure or not. A difference must also show relative
// to more than half of the peers, since a single peer may have been disturbed. A limit is no such peer: load slows a
// copy and a sort differently.
//
// Times that agree within the noise floor of both runs are the same, whatever the peers and limits do. There is no
// other correction for the number of rows; each verdict is about its own row.
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

/// The cases of a file of records. Several runs of one build are joined into one measurement, since what shifts all
/// samples of a run, such as where a process's memory lies or other load on the machine, shows only between runs.
struct measured_cases {
  std::vector<const row*> rows;                  // one for each case, in the order of their first records
  std::size_t most_runs = 1;                     // the most runs that one of them was joined from
  std::size_t replaced = 0;                      // the number of records that a later one replaces
  std::set<std::string_view> why_replaced = {};  // "they are of different builds"
  std::deque<row> joined = {};                   // rows that `rows` points to and the table does not have
};

/// Whether the digests differ although they must be equal: the order, the input and the claim are the same.
bool digests_differ(const row& a, const row& b);

/// For each case, the last record counts, with the earlier ones from the same clean build on the same hardware. If one
/// of them is wrong, or else failed, it stands for all: a later good run does not undo it. Otherwise those with times
/// are joined: the median is the median of the runs', the interval includes all their intervals, as for the
/// ratios to other rows, and `visits_effect` is at least the gap between the runs. Runs whose bits differ are wrong.
/// The result points into the table.
measured_cases cases_of(const row_table& rows);

/// In the order of printing.
enum class verdict : std::uint8_t { wrong, slower, unclear, faster, same };
inline constexpr std::array all_verdicts{verdict::wrong, verdict::slower, verdict::unclear, verdict::faster,
                                         verdict::same};
constexpr std::string_view name_of(verdict v) {
  constexpr std::array<std::string_view, all_verdicts.size()> names{"wrong", "slower", "unclear", "faster", "same"};
  return names[static_cast<std::size_t>(v)];
}

/// The verdict about a ratio of speeds: for a clear one, the whole interval must lie beyond the smallest effect, or
/// within it.
verdict judged(const interval& speed, double smallest_effect);
/// The same about two rows that ran in turns. Other load slows both alike and is in their interval already: beyond 5 %,
/// its side of 1 decides, however noisy the machine is.
verdict judged_in_turns(const interval& speed, double smallest_effect);

/// How a row's time changed relative to a peer's that was measured in turns with it.
struct relative_time {
  std::string_view to;     // the peer's variant
  interval ratio;          // as compared_case::ratio
  double noise_floor = 0;  // as a share
};

/// A case that both files have, or a wrong one that only NEW has.
struct compared_case {
  const row* before;  // or null
  const row* after;
  verdict is = verdict::unclear;
  std::string why{};                        // for `wrong`, and for `unclear` if the reason is not the interval
  std::optional<interval> ratio{};          // time after / time before; none if wrong
  double noise_floor = 0;                   // as a share
  double usual_noise = 0;                   // the noise floor as if there were several runs
  std::optional<relative_time> relative{};  // judged in place of the time, where that is steadier
};

/// A case that cannot be compared.
struct left_out_case {
  const row* what;
  std::string why;
};

struct comparison {
  std::vector<compared_case> cases;  // by verdict, then in the order of NEW
  std::vector<left_out_case> left_out;
  std::vector<std::string> remarks;  // sentences: differences other than the code, and records that do not count
  std::size_t pairs = 0;             // cases in both files, with or without times
  measured_cases before, after;      // own what the cases point to

  std::size_t count(verdict v) const;
};

/// Cases match by case_key. If each file has a variant with only one tuning, it is one case whatever the tunings are,
/// since the change may be of the default tuning. A row that was wrong or failed before it was timed, and whose number
/// of threads is unknown, is compared with each row of OLD that it may match. Several records of a case are joined by
/// cases_of. The result points into both tables.
comparison compare(const row_table& before, const row_table& after);

struct mean_ratio {
  std::size_t rows = 0;
  interval value;  // median and both ends are set
};

/// The geometric mean of the ratios that have an interval, for our rows or for the peers. Its interval treats the rows'
/// errors as independent, and the usual noise of a group as common to all its rows.
std::optional<mean_ratio> mean_of(std::span<const compared_case> cases, bool of_peers);

}  // namespace tilewise::report
