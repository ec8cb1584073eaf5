// SPDX-License-Identifier: Apache-2.0
// A folder for the files of a test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace tilewise::tests {

/// A private folder that is removed at the end of its scope.
class scratch_folder {
 public:
  scratch_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tilewise-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder can be made like " + pattern);
    path_ = pattern;
  }
  ~scratch_folder() { std::filesystem::remove_all(path_); }
  scratch_folder(const scratch_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes a line to a file, and creates the folders in its path.
  void write(const std::filesystem::path& file, const std::string& text) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text << "\n";
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tilewise::tests
