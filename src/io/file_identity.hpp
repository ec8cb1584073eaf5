// SPDX-License-Identifier: Apache-2.0
// Which file a path or a standard stream leads to.
#pragma once

#include <compare>
#include <string>

#include <sys/types.h>

namespace tilewise::io {

/// Where a file of this name is or would be: links are followed, even one that leads to nothing yet. Throws `io` for
/// links that lead in a circle, and for another user's (not root's) to a place that is not theirs.
std::string destination(const std::string& path);

/// Whether the path leads to a file by a descriptor that is open, as /dev/stdout does: to replace the file would lose
/// what else is written there.
bool is_open_file(const std::string& path);

/// The folder of such a place, for calls that take names within it; -1 with errno set, also if there is a link on the
/// way by now.
int open_folder_of(const std::string& destination);

/// The name of such a place within its folder.
const char* name_within_folder(const std::string& destination);

/// Equal for all that leads to one file.
struct file_identity {
  dev_t device = 0;  // of one that is not there yet those of its folder
  ino_t inode = 0;
  std::string name;  // of one that is not there yet, or is none, as a pipe that is standard output

  auto operator<=>(const file_identity&) const = default;
};
/// Throws as destination() does.
file_identity identity_of(const std::string& path);
file_identity identity_of_stream(int descriptor);

}  // namespace tilewise::io
