// A row's record while its group is measured, and what is told beside it.
#pragma once

#include "lab/experiment.hpp"
#include "lab/rounds.hpp"
#include "record/record.hpp"

namespace tilewise::lab {

struct measured {
  record::result result;
  std::string place, tuning_changes;                        // row::place, and what differs from the default tuning
  registry::speed_unit unit = registry::speed_unit::bytes;  // of the group: what its speeds are told in
  double elements = 0;                                      // 0 where their number is not what the work grows with
  std::optional<errc> failure;                              // of a failed or skipped one, where it has a code
  const experiment* from = nullptr;                         // the document's that asked for it
  std::vector<const figure*> published{};                   // its figures of this row's counterparts

  /// Without a time: only what is right has one.
  void end(record::status state, const std::string& reason);
  /// What is measured so far is kept.
  void interrupt();

  bool is_ok() const { return result.state == record::status::ok; }
  /// The samples of a right row, or null.
  const record::clock* kernel() const;
};

/// Of one sample or more.
record::clock clock_of(const series& taken);

}  // namespace tilewise::lab
