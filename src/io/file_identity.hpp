// SPDX-License-Identifier: Apache-2.0
// Which file a path leads to.
#pragma once

#include <string>

namespace tilewise::io {

/// Where a file of this name is or would be: links are followed, even one that leads to nothing yet. Throws `io` for
/// links that lead in a circle.
std::string destination(const std::string& path);

/// Whether both paths lead to one file: by device and inode, or by folder and name where none is there yet.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace tilewise::io
