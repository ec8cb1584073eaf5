// SPDX-License-Identifier: Apache-2.0
// Folders in which somebody else may give names, and where what was found or compiled may be kept: only in one that is
// ours alone.
#pragma once

#include <string>

namespace tilewise::base {

/// What an owner counts as whom a user namespace does not show: mostly that is root, as of / and /tmp, but not surely.
enum class unknown_owner { is_root, is_somebody_else };

/// Whether others than this user and root may put something else in the place of what is ours in this folder, or in the
/// place of the folder: one that is theirs is on the way to it, or one that they can write to, without the sticky bit,
/// as /tmp has it. True, too, for what is no folder.
bool others_may_rename_in(const std::string& folder, unknown_owner unknown = unknown_owner::is_root);

enum class missing_folder : bool { stays, is_created };

/// Makes a folder that nobody else can use, or put another in its place, if there is none; whether there is one then.
bool make_private(const std::string& folder);

/// What TILEWISE_CACHE names, else $XDG_CACHE_HOME/tilewise, else ~/.cache/tilewise. Empty if the first says no, such
/// as "off", or if nothing names one.
std::string cache_folder(missing_folder if_missing = missing_folder::is_created);

/// A descriptor of that folder; -1 if there is none, if it is not ours alone, or missing and to stay so.
int open_cache_folder(missing_folder if_missing);

/// Why there is no cache folder, as the end of a sentence that names it; empty if there is one, or if it is off.
std::string why_no_cache_folder();

}  // namespace tilewise::base
