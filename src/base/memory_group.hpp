// SPDX-License-Identifier: Apache-2.0
// What the control groups that this process is in leave it of memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

namespace tilewise::base {

/// In bytes; the largest number where no group has a limit.
struct group_memory {
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t left = most;  // file pages on a disk, which can be freed, among it
};

/// Of the strictest group from the process's own up to the root of what it sees. The files are those of Linux, in
/// version 1 or 2 of its control groups.
group_memory memory_of_groups(const std::filesystem::path& own_groups = "/proc/self/cgroup",
                              const std::filesystem::path& mounted = "/sys/fs/cgroup");

}  // namespace tilewise::base
