// SPDX-License-Identifier: Apache-2.0
// What a look at the OpenCL drivers showed, kept in the private cache folder, so that `auto` need not look at every
// start. It can only keep drivers from being loaded: whatever loads one looks again first.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

struct faulty_driver {
  std::string file;  // "/etc/OpenCL/vendors/pocl.icd"
  std::string what;  // "crashed with signal 11 (Segmentation fault) while being listed"
};

/// What `auto` needs to know.
struct driver_findings {
  std::vector<faulty_driver> faulty;
  std::vector<std::filesystem::path> wanted;  // the drivers that it needs for devices other than CPUs, if any
};

/// What was found about these drivers within the last day, since the machine started, and with the same files,
/// libraries, device nodes and environment; nothing if that is unknown.
std::optional<driver_findings> recorded_findings(std::span<const std::filesystem::path> icds,
                                                 std::time_t now = std::time(nullptr));

void record_findings(std::span<const std::filesystem::path> icds, const driver_findings& found);

}  // namespace tilewise::cli
