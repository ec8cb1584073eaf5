// What `tilewise diffuse` makes of a field: its hash, its residual, pictures, tables and checkpoints.
#pragma once

#include "cli/diffuse_parameters.hpp"

#include <tilewise/types.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

/// A field without ghosts after so many steps; its bytes are those of `type`.
struct diffuse_state {
  diffuse_parameters parameters;
  dtype type;
  std::uint64_t step = 0;
  std::vector<std::byte> field;

  /// Field elements as doubles; beyond the edges stand the edges' values.
  double at(std::int64_t row, std::int64_t column) const;
  /// The sum of all time steps, added one by one as the original does.
  double elapsed() const;
};

/// The start: 0, but the strips 1.
diffuse_state start_of(const diffuse_parameters& parameters, dtype type);

/// FNV-1a of 64 bits over the field's bytes, as 16 hex digits. It starts from 1469598103934665603 as the published
/// hashes of this benchmark do, a digit short of FNV's own basis.
std::string hash_of(const diffuse_state& state);

/// The weighted sum of squared differences from the analytical solution, as the original adds it. 0 at the start.
double residual_of(const diffuse_state& state);

/// One row of runlog.csv: cumulated seconds of steps, of files, of residuals, and of all.
struct runlog_row {
  std::uint64_t step;
  double time, residual, steps_s, files_s, residuals_s, all_s;
};

/// The output folder. Every file appears complete or not at all.
class diffuse_folder {
 public:
  /// Makes it where it is missing. Throws `io`.
  explicit diffuse_folder(const std::string& path);

  void write_pictures(const diffuse_state& state) const;  // grey as the original's, and in colours
  void write_table(const diffuse_state& state) const;     // x,y,c
  void write_runlog(std::span<const runlog_row> rows) const;
  /// The field as .npy, and with it checkpoint.json, which comes last.
  void write_checkpoint(const diffuse_state& state, std::span<const runlog_row> rows) const;
  /// The state of checkpoint.json, and the rows that were written up to it. Throws `io` for one that is missing or
  /// broken, and `invalid_argument` for one of other parameters.
  diffuse_state read_checkpoint(const diffuse_parameters& parameters, dtype type, std::vector<runlog_row>& rows) const;

  std::string path() const { return folder_.string(); }

 private:
  std::string file(const diffuse_state& state, const std::string& ending) const;

  std::filesystem::path folder_;
};

}  // namespace tilewise::cli
