// SPDX-License-Identifier: Apache-2.0
// Guards against what an OpenCL driver compiled earlier: a damaged file in its cache crashes each process that loads
// it.
#pragma once

namespace tilewise::cli {

/// Says once, unless `quiet`, why compiled programs are not kept.
void tell_of_cache(bool quiet);

/// Sets the folder where the drivers of this process and of its children keep compiled programs. A folder for this run
/// alone is removed when the tool ends, unless it is killed.
void make_driver_folder();

/// From now on a crash ends the tool with the exit code of a lost device. Compiled programs that other runs would load
/// are moved aside.
void end_on_driver_crash();

/// The same after a child has crashed; true if a retry may succeed.
bool is_mended_after_crash();

}  // namespace tilewise::cli
