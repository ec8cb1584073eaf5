// SPDX-License-Identifier: Apache-2.0
// Folders in which somebody else may give names.
#pragma once

#include <string>

namespace tilewise::base {

/// What an owner counts as whom a user namespace does not show: mostly that is root, as of / and /tmp, but not surely.
enum class unknown_owner { is_root, is_somebody_else };

/// Whether others than this user and root may put something else in the place of what is ours in this folder, or in the
/// place of the folder: one that is theirs is on the way to it, or one that they can write to, without the sticky bit,
/// as /tmp has it. True, too, for what is no folder.
bool others_may_rename_in(const std::string& folder, unknown_owner unknown = unknown_owner::is_root);

}  // namespace tilewise::base
