// SPDX-License-Identifier: Apache-2.0
// Where what was found or compiled may be kept: only in folders that are ours alone.
#pragma once

#include <string>

namespace tilewise::base {

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
