// SPDX-License-Identifier: Apache-2.0
// Records -> a self-contained HTML page, a CSV file, or a table for a README. Equal records give equal bytes.
#pragma once

#include "io/replacement_file.hpp"
#include "report/model.hpp"

#include <filesystem>
#include <string>

namespace tilewise::report {

/// The page: charts, tables and findings from records and the catalog. Written beside `out` and renamed.
void write_html(const model& m, const std::filesystem::path& out);

/// One row per record, units in the column names. Written beside `out` and renamed by commit.
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

/// Tables of measured results for a README, between its markers: all sizes; or our speed against the fastest other
/// library, one ratio for an algorithm on a processor.
std::string markdown(const model& m);
std::string matrix_markdown(const model& m);

}  // namespace tilewise::report
