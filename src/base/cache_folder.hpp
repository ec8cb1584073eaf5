// SPDX-License-Identifier: Apache-2.0
// The private cache folder for stored and compiled things, and checks whether other users can rename files in a folder.
// Nothing is kept in a folder that others can write to.
#pragma once

#include <string>

namespace tilewise::base {

/// How to treat an owner that a user namespace does not show. Usually it is root, as for / and /tmp, but that is not
/// certain.
enum class unknown_owner { is_root, is_somebody_else };

/// Whether users other than this one and root can replace our files in this folder, or the folder itself. They can if
/// the folder or one of its parents belongs to them, or if they can write to it and it lacks the sticky bit that /tmp
/// has. Also true if the path is not a folder.
bool others_may_rename_in(const std::string& folder, unknown_owner unknown = unknown_owner::is_root);

enum class missing_folder : bool { stays, is_created };

/// Creates a folder that nobody else can use or replace, if it is missing. Returns whether it exists afterwards.
bool make_private(const std::string& folder);

/// The folder in TILEWISE_CACHE, else $XDG_CACHE_HOME/tilewise, else ~/.cache/tilewise. Empty if TILEWISE_CACHE is
/// "off" or the like, or if no variable names a folder.
std::string cache_folder(missing_folder if_missing = missing_folder::is_created);

/// Opens that folder. Returns its descriptor, or -1 if there is none, if others can use it, or if it is missing and
/// must not be created.
int open_cache_folder(missing_folder if_missing);

/// Why the cache folder cannot be used, as the end of a sentence that names it; empty if it can, or if it is off.
std::string why_no_cache_folder();

}  // namespace tilewise::base
