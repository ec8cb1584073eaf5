// SPDX-License-Identifier: Apache-2.0
// Whether a launcher such as mpirun has started this process as a rank, as shows before MPI has started: also in the
// module of MPI, which is why it needs nothing of the library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tilewise::backend::group {

/// Empty if it cannot be read: processes end at any time.
std::string contents(const std::filesystem::path& file);

/// Of another process's variables, as /proc tells them; empty if it is not there.
std::string variable(const std::string& environment, const std::string& name);

/// The rank, if the launcher still waits for it. Variables alone are no launcher: scripts set them, children of a rank
/// inherit them, and they may outlive it. MPI would end a process that relies on them.
std::optional<unsigned> rank_by_launcher();

/// How many ranks a launcher of the older PMI says that it has started: it may be another MPI's than ours. Nothing
/// where PMIx's says who is a rank.
std::optional<unsigned> ranks_by_pmi();

/// Whether there are variables of Open MPI's launcher without a launcher: starting MPI would end this process.
bool has_lost_launcher();

}  // namespace tilewise::backend::group
