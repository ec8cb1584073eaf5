// SPDX-License-Identifier: Apache-2.0
// What an OpenCL driver compiled earlier is a hazard: a damaged object crashes each process that loads it.
#pragma once

namespace tilewise::cli {

/// Says once, unless `quiet`, why compiled programs are not kept.
void tell_of_cache(bool quiet);

/// Where the drivers of this process and of its children keep what they compile. One that is for this run alone is
/// removed however the tool ends, but by a kill.
void make_driver_folder();

/// From now on a crash ends the tool with the exit code of a lost device. What the driver has compiled is moved aside
/// if other runs would load it.
void end_on_driver_crash();

/// The same for a child that crashed: true if a retry may succeed.
bool is_mended_after_crash();

}  // namespace tilewise::cli
