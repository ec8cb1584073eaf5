// SPDX-License-Identifier: Apache-2.0
// What an OpenCL driver compiled earlier is a hazard: a damaged object crashes each process that loads it.
#pragma once

namespace tilewise::cli {

/// Says once, unless `quiet`, why compiled programs are not kept.
void tell_of_cache(bool quiet);

/// From now on a crash moves what the driver has compiled aside, says so, and ends the tool with the exit code of a
/// lost device.
void end_on_driver_crash();

/// The same for a child that crashed: true if a retry may succeed.
bool is_mended_after_crash();

}  // namespace tilewise::cli
