// SPDX-License-Identifier: Apache-2.0
// What `bench` makes of its records: lines of a file, blocks on standard output, a page, and an exit code.
#pragma once

#include "cli/exit_code.hpp"
#include "lab/measured.hpp"
#include "lab/session.hpp"
#include "record/record_file.hpp"
#include "report/model.hpp"

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
  bench_output(const bench_outputs& asked, std::size_t groups, std::vector<std::string> argv);

  /// Of the next group; equal titles are one block.
  void begin(std::size_t index, const std::string& title, const std::string& name);
  void tell(const std::string& what) const;
  void keep(lab::measured m);
  /// The last block, the verdict and the page.
  exit_code finish();

 private:
  void tell_line(const lab::measured& m) const;
  void print_block();

  const bench_outputs asked_;
  const std::size_t groups_;
  lab::session session_;
  std::optional<record::record_file> file_;
  std::size_t current_ = 0;
  std::string block_title_;
  std::vector<lab::measured> block_, all_;
  report::row_table written_;
};

/// Of all that was measured: that it was interrupted, otherwise the most serious outcome.
exit_code judged(std::span<const lab::measured> all);

}  // namespace tilewise::cli
