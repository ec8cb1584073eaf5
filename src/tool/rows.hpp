// SPDX-License-Identifier: Apache-2.0
// Rows from records: records in files that a user names, or measured here.
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

/// Reads one file after the other. Says at the end, on standard error, what was skipped. Throws `io` for a file that
/// cannot be read.
void take_records(std::span<const std::string> files, const std::function<void(const record::result&)>& take);
report::row_table read_rows(std::span<const std::string> files);

/// Collects the rows that `roofline`, `scale` and `tune` measure: signs their records, writes them, reports progress,
/// and keeps them for the tables.
class analysed_rows {
 public:
  /// `records`: a file to which records are appended, or empty.
  analysed_rows(const std::string& records, bool quiet, std::vector<std::string> argv);

  /// Shows progress.
  void tell(const std::string& text) const;
  void sign(record::result& r) const { session_.sign(r); }
  void keep(const record::result& r);
  /// Keeps a row. If it has no time, says why, once for successive rows with the same reason, such as a shortage of
  /// memory.
  void keep(lab::measured m);

  /// Measures and keeps these groups. Can be interrupted. Progress shows the group's number.
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

/// The rule of a preset with this much time for each row. It ends when the user interrupts.
lab::measuring measuring_for(std::string_view preset, double max_time_s);

}  // namespace tilewise::cli
