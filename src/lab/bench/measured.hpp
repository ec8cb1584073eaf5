// SPDX-License-Identifier: Apache-2.0
// A row's record while its group is measured, with what the tables show beside it.
#pragma once

#include "lab/plan/experiment.hpp"
#include "lab/time/rounds.hpp"
#include "record/record.hpp"

#include <span>

namespace tilewise::lab {

struct measured {
  record::result result;
  std::string place, tuning_changes;                        // row::place, and how the tuning differs from the default
  registry::speed_unit unit = registry::speed_unit::bytes;  // the unit of the group's speeds
  double elements = 0;                                      // 0 if the work does not grow with the number of elements
  std::optional<errc> failure;                              // of a failed or skipped row, if there is a code
  const experiment* from = nullptr;                         // the document that asked for it
  std::vector<const figure*> published{};                   // the document's figures to show beside this row

  /// Ends the row with this status. It keeps no time, since only correct rows have one.
  void end(record::status state, const std::string& reason);
  void fail(const std::string& why, std::optional<errc> code);
  /// Calls `work`. If that throws, the row fails with the exception's message.
  void guard(const round_hooks& hooks, const std::function<void()>& work);
  /// Keeps what has been measured so far.
  void interrupt();

  bool is_ok() const { return result.state == record::status::ok; }
  /// The samples by which a correct row is judged: those of its kernel or of its whole job. Null if it has none.
  const record::clock* time() const;
  /// The fastest call seen, among those samples and the first check. The first check counts because there may be time
  /// for one sample only, and that one may have been disturbed. None without samples. First calls differ from rank to
  /// rank, so the first rank makes every decision that depends on this.
  std::optional<double> quickest_ns() const;
};

/// Checks each row, times the correct ones together, and checks these once more: a row that gives wrong results only
/// after many calls has no time either. Stops early if the user interrupts.
void check_and_time(std::vector<measured>& rows, const round_hooks& hooks,
                    const std::function<void(std::size_t)>& check, const std::function<void()>& time);

/// The clock of a series with at least one sample.
record::clock clock_of(const series& taken);
/// One clock from two visits.
record::clock joined(const record::clock& first, const record::clock& last);
/// The least by which the medians of two visits differ, as a share: the gap between their intervals, or 0.
double visits_effect(const record::clock& first, const record::clock& last);
/// The samples of each visit.
std::vector<std::span<const double>> visits_of(const record::clock& c);

}  // namespace tilewise::lab
