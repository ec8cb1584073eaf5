// SPDX-License-Identifier: Apache-2.0
// What `bench` makes of its records: lines of a file, blocks on standard output, a page, and an exit code.
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
  std::string records, report;  // files, or empty
  bool of_documents = false, quiet = false;
};

/// Prints each problem's block when it is complete, and writes each record as it comes.
class bench_output {
 public:
  bench_output(const bench_outputs& asked, std::vector<std::string> argv);
  bench_output(const bench_output&) = delete;
  ~bench_output() { before_ending_at_once({}); }

  /// The next visit, to the group of this name.
  void begin(std::size_t step, std::size_t steps, const std::string& name);
  void tell(const std::string& what) const;
  /// What the first visit to a group found: it is written if the tool ends before there is more.
  void hold(std::span<const lab::measured> rows);
  /// What a group found; groups with equal titles that follow each other are one block.
  void keep(const std::string& title, std::span<const lab::measured> rows);
  /// A limit that belongs to no group: it is written, and told nowhere but on the page.
  void keep(record::result limit);
  /// The last block, the verdict and the page.
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

/// Of all that was measured: that it was interrupted, otherwise the most serious outcome.
exit_code judged(std::span<const lab::measured> all);

}  // namespace tilewise::cli
