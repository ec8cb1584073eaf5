// SPDX-License-Identifier: Apache-2.0
// Any bytes as checkpoint.json, beside a field of step 7, give either a checkpoint that is the same after it is written
// and read again, or an io or invalid_argument error.
#include "fuzz.hpp"
#include "tool/diffuse/folder.hpp"

#include <fstream>
#include <iterator>

using namespace tilewise;

namespace {

/// A folder with a run of 4x3 points after 7 steps; removed at the end.
class run_folder {
 public:
  run_folder() : path_("/dev/shm/tilewise-fuzz-XXXXXX") {
    fuzz::require(mkdtemp(path_.data()) != nullptr, "a folder is made", path_);
    hiperc::snapshot shot = hiperc::start_of(run(), dtype::f32);
    shot.step = 7;
    folder().write_checkpoint(shot, {});
  }
  run_folder(const run_folder&) = delete;
  ~run_folder() { std::filesystem::remove_all(path_); }

  static hiperc::parameters run() { return {.nx = 6, .ny = 5, .ns = 10, .nc = 5}; }
  hiperc::output_folder folder() const { return hiperc::output_folder(path_); }
  std::string checkpoint() const { return path_ + "/checkpoint.json"; }

 private:
  std::string path_;
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The checkpoint's text after it was read and written again; empty if it was refused.
std::string written_again(const run_folder& at) {
  std::string written;
  fuzz::is_file_read("checkpoint.json", {errc::io, errc::invalid_argument}, [&] {
    std::vector<hiperc::runlog_row> rows;
    const hiperc::snapshot shot = at.folder().read_checkpoint(at.run(), dtype::f32, rows);
    fuzz::require(shot.step == 7 && shot.field.size() == 4 * 3 * sizeof(float), "the field is the one of the step");
    at.folder().write_checkpoint(shot, rows);
    written = contents(at.checkpoint());
  });
  return written;
}

}  // namespace

TILEWISE_FUZZ_TARGET {
  static const run_folder at;
  std::ofstream(at.checkpoint(), std::ios::binary) << text;
  fuzz::is_file_read("checkpoint.json", {errc::invalid_argument}, [&] { at.folder().require_no_progress(); });
  const std::string written = written_again(at);
  if (written.empty()) return;
  fuzz::require(written_again(at) == written, "a checkpoint is read as it was written", written);
}
