// SPDX-License-Identifier: Apache-2.0
// What was found about the OpenCL drivers, kept in the private cache folder so that `auto` need not examine them at
// every start. It can only keep drivers from being loaded: before a driver is loaded, it is examined again.
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

/// What `auto` needs to know about the drivers.
struct driver_findings {
  std::vector<faulty_driver> faulty;
  std::vector<std::filesystem::path> wanted;  // drivers that it needs for devices other than CPUs
};

/// What was found about these drivers, if that was within the last day and since the machine started, with the same
/// files, libraries, device nodes and environment; otherwise nothing.
std::optional<driver_findings> recorded_findings(std::span<const std::filesystem::path> icds,
                                                 std::time_t now = std::time(nullptr));

void record_findings(std::span<const std::filesystem::path> icds, const driver_findings& found);

}  // namespace tilewise::cli
