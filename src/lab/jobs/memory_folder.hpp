// SPDX-License-Identifier: Apache-2.0
// A folder for files that are measured: in memory, where the system has such a place, so that no disk is.
#pragma once

#include "io/unfinished.hpp"

#include <cstdint>
#include <string>

namespace tilewise::lab {

class memory_folder {
 public:
  /// In /dev/shm, or where that cannot be written in TMPDIR or /tmp. Throws `io` if there is no such place.
  memory_folder();
  ~memory_folder();  // removes it with its files
  memory_folder(const memory_folder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  io::unfinished noted_;
};

}  // namespace tilewise::lab
