// SPDX-License-Identifier: Apache-2.0
// Finds out which file a path or a standard stream refers to.
#pragma once

#include <compare>
#include <string>

#include <sys/types.h>

namespace tilewise::io {

/// The path of the file after following symbolic links, even dangling ones. Throws `io` for circular links, and for a
/// link of another user (except root) to a place that does not belong to that user.
std::string destination(const std::string& path);

/// Whether the path refers to an open descriptor, as /dev/stdout does. Replacing such a file would lose what is written
/// through the descriptor.
bool is_open_file(const std::string& path);

/// Opens the folder of a path from destination(), for the calls that take a folder's descriptor and a name. Returns -1
/// with errno set on failure, also if the path has a symbolic link by now.
int open_folder_of(const std::string& destination);

/// The file's name within that folder.
const char* name_within_folder(const std::string& destination);

/// Equal for all paths and streams that refer to the same file.
struct file_identity {
  dev_t device = 0;  // of its folder, if the file does not exist yet
  ino_t inode = 0;
  std::string name;  // only if the file does not exist yet, or is not a file, such as standard output to a pipe

  auto operator<=>(const file_identity&) const = default;
};
/// Throws like destination().
file_identity identity_of(const std::string& path);
file_identity identity_of_stream(int descriptor);

}  // namespace tilewise::io
