// SPDX-License-Identifier: Apache-2.0
// What `bench` does with its records: lines in a file, blocks on standard output, a page, and an exit code.
#pragma once

#include "lab/bench/measured.hpp"
#include "lab/machine/environment.hpp"
#include "record/file.hpp"
#include "report/model.hpp"
#include "tool/exit_code.hpp"
#include "tool/interrupt.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

struct bench_outputs {
  std::string records, report;  // paths, or empty
  bool of_documents = false, quiet = false;
};

/// What `bench` says after the verdict.
struct closing_words {
  std::string closing, limited;  // to standard output; a note about peers that the environment limits, or empty
};
void print_last(const closing_words& words);

/// Prints the block of each problem when it is complete, and writes each record as soon as it is known.
class bench_output {
 public:
  bench_output(const bench_outputs& asked, std::vector<std::string> argv);
  bench_output(const bench_output&) = delete;
  ~bench_output() { before_ending_at_once({}); }

  /// Begins the next visit, to the group with this name.
  void begin(std::size_t step, std::size_t steps, const std::string& name);
  void tell(const std::string& what) const;
  /// Holds what the first visit to a group found. It is written if the tool ends before the last visit.
  void hold(std::span<const lab::measured> rows);
  /// Adds the results of a group. Successive groups with equal titles are one block.
  void keep(const std::string& title, std::span<const lab::measured> rows);
  /// A limit that belongs to no group. It is written to the file and shown only on the page.
  void keep(record::result limit);
  /// Prints the last block and the verdict, and writes the page.
  exit_code finish();

 private:
  void keep(lab::measured m);
  void write(record::result& r);
  void write_held();
  void tell_line(const lab::measured& m) const;
  void print_block();

  const bench_outputs asked_;
  lab::session session_;
  std::optional<record::record_file> file_;
  std::string step_, block_title_;
  std::vector<lab::measured> block_, all_;
  std::mutex held_mutex_;
  std::map<std::string, std::vector<lab::measured>> held_;  // by group
  report::row_table written_;
};

/// The exit code for everything that was measured: interrupted, or else the most serious outcome.
exit_code judged(std::span<const lab::measured> all);

}  // namespace tilewise::cli
