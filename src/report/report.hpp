// SPDX-License-Identifier: Apache-2.0
// Turns records into a self-contained HTML page, a CSV file, or a table for a README. Equal records give equal bytes.
#pragma once

#include "io/replacement_file.hpp"
#include "report/model.hpp"

#include <filesystem>
#include <string>

namespace tilewise::report {

/// Writes the page: charts, tables and findings from records and the catalog. It is written beside `out` and then
/// renamed.
void write_html(const model& m, const std::filesystem::path& out);

/// One row for each record, with units in the column names. It is written beside `out`, and commit() renames it.
class csv_file {
 public:
  explicit csv_file(const std::filesystem::path& out);
  void add(const record::result& r);
  void commit();

 private:
  void write();

  io::replacement_file file_;
  std::string lines_;  // not yet written
};

/// Tables for a README, to go between its markers: our speed relative to the fastest other library, one ratio for each
/// algorithm on each processor; and the results of all sizes.
std::string markdown(const model& m);
std::string matrix_markdown(const model& m);

}  // namespace tilewise::report
