// SPDX-License-Identifier: Apache-2.0
// The folder for programs that an OpenCL driver has compiled. It is in our cache folder, to which nobody else can
// write.
#pragma once

#include "base/disk_cache.hpp"

#include <cstdint>
#include <string>

namespace tilewise::backend::opencl {

/// Chooses the folder for PoCL's compiled objects. PoCL would run an object that somebody else has put there. So unless
/// POCL_CACHE_DIR is set, this points PoCL to our cache folder or, without one, to a new folder that is removed with
/// this process. PoCL ends the process if it cannot write or load an object, so the folder is tested first, even one
/// from POCL_CACHE_DIR. Returns a sentence that says why no folder can be used; empty if one can.
std::string make_folder_for_driver();
/// Tests the folder again, since the disk may be full by now, or a limit may have changed. Creates it again if it was
/// removed. Returns, as the end of a sentence, why a driver could not use it; empty if it can.
std::string fault_of_folder_in_use();
/// The folders that could not be used, and why, as the end of a sentence; empty if there were none.
std::string folders_left_out();
/// Whether the folder was created for this process only.
bool is_driver_folder_of_run(const std::string& folder);

/// Makes PATH and COMPILER_PATH safe for PoCL, which calls a linker. If PoCL finds none, it runs a file `ld` in the
/// current folder, or ends the process. So this removes all relative folders, and adds the usual ones if no remaining
/// folder has a linker.
void make_path_for_driver();

/// The driver's folder within our cache folder; empty if there is none.
std::string driver_folder();
/// The name to which driver_folder() is moved if its contents make the driver crash. Each call of
/// move_driver_folder_aside(), in any process, uses another name.
std::string driver_folder_aside();
/// Moves the driver's folder to another name. Returns true if the driver now starts with an empty folder.
bool move_driver_folder_aside();

/// Limits the folder's size, at most once an hour since it has many objects, and removes folders that were moved aside
/// more than a day ago. Only for a private cache folder: in others somebody could replace the file that records the
/// last run by a link.
void tidy_driver_folder();

/// Limits PoCL's folder to `limit` bytes, like base/disk_cache.hpp limits our entries. Objects stay for a day after
/// their last use, since PoCL may read them at any time while it runs.
void limit_driver_objects(const std::string& folder, std::uint64_t limit = base::cache_limit);

}  // namespace tilewise::backend::opencl
