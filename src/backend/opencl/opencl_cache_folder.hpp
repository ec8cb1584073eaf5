// SPDX-License-Identifier: Apache-2.0
// Where compiled programs may be kept: only in folders that are ours alone.
#pragma once

#include <string>

namespace tilewise::backend::opencl {

enum class missing_folder : bool { stays, is_created };

/// A descriptor of the cache folder (opencl_cache.hpp says which); -1 if it is off, not ours alone, or missing and to
/// stay so.
int open_cache_folder(missing_folder if_missing);

/// Why there is no cache folder, as a sentence that names it; empty if there is one, or if TILEWISE_CACHE is "off".
std::string why_no_cache();

/// PoCL keeps its own objects and silently runs a swapped one: unless POCL_CACHE_DIR is set, points it into our folder
/// or, if there is none, at one created for this process and removed with it. Returns why there is no such place at
/// all, as a sentence.
std::string make_folder_for_driver();

/// That place in our folder; empty if there is none.
std::string driver_folder();
/// Where driver_folder() is moved if its contents make the driver crash: move_driver_folder_aside() and other processes
/// use other names.
std::string driver_folder_aside();
/// True if the driver now has to start with an empty folder.
bool move_driver_folder_aside();

/// Removes what was moved aside more than a day ago.
void remove_old_driver_folders();

}  // namespace tilewise::backend::opencl
