// SPDX-License-Identifier: Apache-2.0
// A folder for the files of measured jobs. It is in memory if the system allows that, so that no disk is measured.
#pragma once

#include "io/unfinished.hpp"

#include <cstdint>
#include <string>

namespace tilewise::lab {

class memory_folder {
 public:
  /// Makes a folder in /dev/shm. If that is not writable, uses TMPDIR or /tmp. Throws `io` if none of them works.
  memory_folder();
  ~memory_folder();  // removes the folder and its files
  memory_folder(const memory_folder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  io::unfinished noted_;
};

}  // namespace tilewise::lab
