// SPDX-License-Identifier: Apache-2.0
// The files that `tilewise diffuse` writes about a field: pictures, tables, checkpoints.
#pragma once

#include "tool/diffuse/field.hpp"

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tilewise::hiperc {

/// One row of runlog.csv: accumulated seconds for steps, for files, for residuals, and for everything.
struct runlog_row {
  std::uint64_t step;
  double time, residual, steps_s, files_s, residuals_s, all_s;
};

/// The output folder. Every file appears complete or not at all.
class output_folder {
 public:
  /// Creates the folder if it is missing. Throws `io`.
  explicit output_folder(const std::string& path);

  void write_pictures(const snapshot& shot) const;  // grey as the original's, and in colour
  void write_table(const snapshot& shot) const;     // x,y,c
  void write_runlog(std::span<const runlog_row> rows) const;
  /// Writes the field as .npy, and then checkpoint.json.
  void write_checkpoint(const snapshot& shot, std::span<const runlog_row> rows) const;
  /// Reads the snapshot of checkpoint.json, and the rows that were written up to it. Throws `io` if it is missing or
  /// damaged, and `invalid_argument` if it belongs to a run with other parameters.
  snapshot read_checkpoint(const parameters& p, dtype type, std::vector<runlog_row>& rows) const;

  /// Throws `invalid_argument` if a new run would replace a checkpoint of a later step than its start, or a checkpoint
  /// that cannot be read.
  void require_no_progress() const;

  std::string path() const { return folder_.string(); }
  /// The existing files whose names a run would write, and the files that links of such names point to.
  std::set<std::string> files() const;

 private:
  static constexpr const char* runlog_name = "runlog.csv";
  static constexpr const char* checkpoint_name = "checkpoint.json";

  static bool is_name_of_output(const std::string& name);
  std::string file(const snapshot& shot, const std::string& ending) const;

  std::filesystem::path folder_;
};

}  // namespace tilewise::hiperc
