// SPDX-License-Identifier: Apache-2.0
// Turns records into a self-contained HTML page, a CSV file, or a table for a README. Equal records give equal bytes.
#pragma once

#include "io/replacement_file.hpp"
#include "report/model.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

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
  /// A line that still lacks its end: the speedup over its document's baseline, which may come later.
  struct open_line {
    std::string text, problem;
    double ns;  // of the kernel; 0 if it has no time
  };
  void note_baseline(const record::result& r, const open_line& line);
  void write();

  io::replacement_file file_;
  std::string lines_;                                     // not yet written
  std::vector<open_line> open_;                           // from the first record of a document on
  std::map<std::string, std::pair<double, bool>> bases_;  // by problem: ns, and whether it is on the document's device
};

/// The JSON of Google Benchmark, which services that keep a history of times read. Of each case the last record with a
/// time counts. All records must be of one machine. It is written beside `out`, and commit() renames it.
class google_benchmark_file {
 public:
  explicit google_benchmark_file(const std::filesystem::path& out);
  void add(const record::result& r);
  void commit();

 private:
  io::replacement_file file_;
  nlohmann::ordered_json context_;
  std::vector<nlohmann::ordered_json> runs_;
  std::map<std::string, std::size_t> places_;         // in runs_, by name
  std::map<std::string, std::string> first_tunings_;  // further ones are in the names
};

/// Tables for a README, to go between its markers: our speed relative to the fastest other library, one ratio for each
/// algorithm on each processor; and the results of all sizes.
std::string markdown(const model& m);
std::string matrix_markdown(const model& m);

}  // namespace tilewise::report
