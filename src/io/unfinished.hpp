// SPDX-License-Identifier: Apache-2.0
// A list of this process's temporary files and folders, which a signal handler can read.
#pragma once

#include <string>

namespace tilewise::io {

struct unfinished_note;

/// One path on the list. remove_unfinished() removes it from set() until clear() or the destructor.
class unfinished {
 public:
  unfinished();  // throws `io` if there are too many
  unfinished(const unfinished&) = delete;
  ~unfinished();
  /// False if the path is too long.
  bool set(const std::string& path);
  void clear();

 private:
  unfinished_note* note_;
};

/// Removes all files on the list, and all folders with their contents. Safe in a signal handler; the process must end
/// afterwards.
void remove_unfinished() noexcept;

}  // namespace tilewise::io
