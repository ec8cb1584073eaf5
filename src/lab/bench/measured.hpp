// SPDX-License-Identifier: Apache-2.0
// A row's record while its group is measured, and what is shown beside it.
#pragma once

#include "lab/plan/experiment.hpp"
#include "lab/time/rounds.hpp"
#include "record/record.hpp"

#include <span>

namespace tilewise::lab {

struct measured {
  record::result result;
  std::string place, tuning_changes;                        // row::place, and what differs from the default tuning
  registry::speed_unit unit = registry::speed_unit::bytes;  // of the group: what its speeds are given in
  double elements = 0;                                      // 0 where the work does not grow with their number
  std::optional<errc> failure;                              // of a failed or skipped one, where it has a code
  const experiment* from = nullptr;                         // of the document that asked for it
  std::vector<const figure*> published{};                   // its figures of this row's counterparts

  /// Without a time: only correct rows have one.
  void end(record::status state, const std::string& reason);
  void fail(const std::string& why, std::optional<errc> code);
  /// Fails with what `work` throws.
  void guard(const round_hooks& hooks, const std::function<void()>& work);
  /// Keeps what has been measured so far.
  void interrupt();

  bool is_ok() const { return result.state == record::status::ok; }
  /// The samples of a correct row by which it is judged, those of its kernel or of its whole job; or null.
  const record::clock* time() const;
  /// The quickest call that was seen, of those samples and the first check: a single sample that others disturbed, when
  /// it was all that the time was enough for, says nothing of how long a call is. None without samples. Each rank has
  /// another first call, so what depends on this is decided by the first rank.
  std::optional<double> quickest_ns() const;
};

/// Checks each row unless the user interrupts, times the right ones together, and checks these once more: a row that
/// errs only after many calls has no time either.
void check_and_time(std::vector<measured>& rows, const round_hooks& hooks,
                    const std::function<void(std::size_t)>& check, const std::function<void()>& time);

/// Of one sample or more.
record::clock clock_of(const series& taken);
/// Of two visits.
record::clock joined(const record::clock& first, const record::clock& last);
/// What the medians of two visits surely differ by, as a share: the gap between their intervals, or 0.
double visits_effect(const record::clock& first, const record::clock& last);
/// The samples of each visit.
std::vector<std::span<const double>> visits_of(const record::clock& c);

}  // namespace tilewise::lab
