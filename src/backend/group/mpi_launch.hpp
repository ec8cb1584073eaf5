// SPDX-License-Identifier: Apache-2.0
// Finds out, before MPI is initialized, whether a launcher such as mpirun has started this process as a rank. It does
// not use the library, since it is also part of the MPI module.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tilewise::backend::group {

/// A file's contents. Empty if it cannot be read, as when the process that a file in /proc describes has ended.
std::string contents(const std::filesystem::path& file);

/// The variable `name` of another process, whose environment is given as in /proc; empty if it is not set.
std::string variable(const std::string& environment, const std::string& name);

/// This process's rank, if its launcher is still running. The launcher's environment variables alone prove nothing:
/// scripts set them, children of a rank inherit them, and they may outlive the launcher. MPI would end a process that
/// has them without a launcher.
std::optional<unsigned> rank_by_launcher();

/// The number of ranks that a launcher with the older PMI protocol has started; it may belong to another MPI than ours.
/// Nothing if a PMIx launcher has started this process.
std::optional<unsigned> ranks_by_pmi();

/// Whether Open MPI's environment variables are set but its launcher is gone: initializing MPI would then end this
/// process.
bool has_lost_launcher();

}  // namespace tilewise::backend::group
