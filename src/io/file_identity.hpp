// SPDX-License-Identifier: Apache-2.0
// Which file a path leads to.
#pragma once

#include <string>

namespace tilewise::io {

/// Where a file of this name is or would be: links are followed, even one that leads to nothing yet. Throws `io` for
/// links that lead in a circle, and for another user's (not root's) to a place that is not theirs.
std::string destination(const std::string& path);

/// The folder of such a place, for calls that take names within it; -1 with errno set, also if there is a link on the
/// way by now.
int open_folder_of(const std::string& destination);

/// The name of such a place within its folder.
const char* name_within_folder(const std::string& destination);

/// Whether both paths lead to one file: by device and inode, or by folder and name where none is there yet.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace tilewise::io
