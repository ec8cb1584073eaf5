// SPDX-License-Identifier: Apache-2.0
// Temporary files and folders of this process, noted where a signal handler finds them.
#pragma once

#include <string>

namespace tilewise::io {

struct unfinished_note;

/// From `set` to `clear`, or to its end, remove_unfinished removes the path.
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

/// Removes what is noted: files, and folders with what is in them. Safe in a signal handler; the process must end after
/// it.
void remove_unfinished() noexcept;

}  // namespace tilewise::io
