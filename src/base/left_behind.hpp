// What processes that were killed could not remove.
#pragma once

#include <filesystem>
#include <string_view>

namespace tilewise::base {

/// Whether a file or folder is this user's and has been unchanged for a day.
bool is_unused(const std::filesystem::path& path);

/// Removes from `folder` what is called "<prefix><process>-..." and unused, if no such process is left. The day counts
/// too because another machine or container may share the folder.
void remove_left_behind(const std::filesystem::path& folder, std::string_view prefix);

}  // namespace tilewise::base
