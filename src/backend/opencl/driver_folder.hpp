// SPDX-License-Identifier: Apache-2.0
// Where an OpenCL driver keeps what it compiled: in our cache folder, which nobody else can write to.
#pragma once

#include "base/disk_cache.hpp"

#include <cstdint>
#include <string>

namespace tilewise::backend::opencl {

/// PoCL keeps its own objects and silently runs a swapped one: unless POCL_CACHE_DIR is set, points it into our folder
/// or, if there is none, at one created for this process and removed with it. PoCL ends the process where it cannot
/// write or load an object, so a folder is tried first, also one that POCL_CACHE_DIR names. Returns why there is no
/// such place at all, as a sentence.
std::string make_folder_for_driver();
/// Why a driver could not use its folder now, as the end of a sentence: meanwhile the disk may be full, or the limit
/// another one. A folder that was removed is made anew.
std::string fault_of_folder_in_use();
/// Which folders were then left out, and why, as the end of a sentence; empty if none was.
std::string folders_left_out();
/// Whether it is one that was created so for this process.
bool is_driver_folder_of_run(const std::string& folder);

/// PoCL calls a linker. Where it finds none it runs the file `ld` of the current folder, or ends the process: of PATH
/// and COMPILER_PATH only absolute folders stay, and where none has a linker, the usual ones are added.
void make_path_for_driver();

/// That place in our folder; empty if there is none.
std::string driver_folder();
/// Where driver_folder() is moved if its contents make the driver crash: move_driver_folder_aside() and other processes
/// use other names.
std::string driver_folder_aside();
/// True if the driver now has to start with an empty folder.
bool move_driver_folder_aside();

/// Makes room once an hour, since its objects are many, and removes what was moved aside more than a day ago. For a
/// cache folder that is usable: others could put a link where the time of the last turn is kept.
void tidy_driver_folder();

/// Makes room in PoCL's folder, as base/disk_cache.hpp does among our entries. A program's objects stay for a day
/// after its last use: PoCL reads them while it runs, and does not say when.
void limit_driver_objects(const std::string& folder, std::uint64_t limit = base::cache_limit);

}  // namespace tilewise::backend::opencl
