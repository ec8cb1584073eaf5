// SPDX-License-Identifier: Apache-2.0
// Rows of records: from files that a user names, or measured here.
#pragma once

#include "lab/bench/bench.hpp"
#include "lab/machine/environment.hpp"
#include "record/file.hpp"
#include "report/model.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

/// One file after the other. What is left out of them is said on standard error, at the end. Throws `io` for a file
/// that cannot be read.
void take_records(std::span<const std::string> files, const std::function<void(const record::result&)>& take);
report::row_table read_rows(std::span<const std::string> files);

/// What `roofline`, `scale` and `tune` measure: signed, written, told of and kept for their tables.
class analysed_rows {
 public:
  /// `records`: a file that records are appended to, or empty.
  analysed_rows(const std::string& records, bool quiet, std::vector<std::string> argv);

  /// How far it is.
  void tell(const std::string& text) const;
  void sign(record::result& r) const { session_.sign(r); }
  void keep(const record::result& r);
  /// Says why a row has no time, once for each reason in succession: a shortage of memory is that of all rows.
  void keep(lab::measured m);

  /// Measures and keeps; interruptible. The groups are numbered for the progress.
  void measure(std::span<const lab::group> plan, std::string_view preset, double max_time_s);

  const report::row_table& rows() const { return rows_; }
  report::row_table take_rows() { return std::move(rows_); }
  const std::vector<lab::measured>& all() const { return all_; }

 private:
  const bool quiet_;
  lab::session session_;
  std::optional<record::record_file> file_;
  report::row_table rows_;
  std::vector<lab::measured> all_;
  std::string last_reason_;
};

/// The rule of a preset with this time a row, until the user interrupts.
lab::measuring measuring_for(std::string_view preset, double max_time_s);

}  // namespace tilewise::cli
