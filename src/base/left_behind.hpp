// SPDX-License-Identifier: Apache-2.0
// Temporary files and folders, and the removal of those that killed processes have left.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::base {

/// The folders for temporary folders, in order of preference: TMPDIR, if it is an absolute path, then /tmp. The order
/// is reversed if other users can rename files in TMPDIR but not in /tmp.
std::vector<std::string> temporary_parents();

/// The part of a temporary file's name that identifies its process: "<process>-<place>-". The place identifies the
/// machine, its boot and the container, within which the process's number is unique.
std::string mark_of_process();

/// Removes this user's files named "<prefix><process>-..." from `folder`, and also folders if others cannot rename
/// files in `folder`. Those with this place's mark are removed if their process has ended. All others may belong to
/// another machine or container that shares the folder, so they are removed after a day without changes.
void remove_left_behind(const std::filesystem::path& folder, std::string_view prefix);

/// Creates a folder "<prefix><process>-..." in the first of `parents` where that is possible; empty if it is in none.
/// Also calls remove_left_behind on each parent that it tries.
std::string make_temporary_folder(const std::vector<std::string>& parents, std::string_view prefix);

}  // namespace tilewise::base
