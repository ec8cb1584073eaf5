// SPDX-License-Identifier: Apache-2.0
// Folders in which somebody else may give names.
#pragma once

#include <string>

namespace tilewise::base {

/// Whether others may put something else in the place of what is ours in this folder, or in the place of the folder:
/// one that they can write to is on the way to it, without the sticky bit, as /tmp has it. True, too, for what is no
/// folder.
bool others_may_rename_in(const std::string& folder);

}  // namespace tilewise::base
