// SPDX-License-Identifier: Apache-2.0
// What processes that were killed could not remove.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::base {

/// Where temporary folders may lie, the wished one first: TMPDIR, if it is an absolute path, and /tmp. The other way
/// around if others may rename what is in the wished one alone.
std::vector<std::string> temporary_parents();

/// What names a temporary file after the process that it belongs to: "<process>-<place>-", where the place is this boot
/// of this machine and the container in it, among whose processes the number means this one.
std::string mark_of_process();

/// Removes from `folder` files, and folders where others cannot rename any, that are this user's and called
/// "<prefix><process>-...": at once what has this place's mark and a process that has ended, all else when it has been
/// unchanged for a day, because another machine or container may share the folder.
void remove_left_behind(const std::filesystem::path& folder, std::string_view prefix);

/// A new folder "<prefix><process>-..." in the first of `parents` that takes one; empty if none does. What was left
/// behind in those that are tried is removed.
std::string make_temporary_folder(const std::vector<std::string>& parents, std::string_view prefix);

}  // namespace tilewise::base
