// SPDX-License-Identifier: Apache-2.0
// The Linux control groups (version 1 or 2) of this process, and the memory that their limits leave.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace tilewise::base {

struct control_group {
  std::filesystem::path folder;  // has the files with its limits; may be invisible, as in a container
  bool is_version_2;
};

/// The groups that limit a resource, such as "memory" or "cpu", from the process's own group up to the visible root.
std::vector<control_group> control_groups(const std::string& resource, const std::filesystem::path& own_groups,
                                          const std::filesystem::path& mounted);

/// In bytes; the largest number if no group has a limit.
struct group_memory {
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t left = most;  // includes cached file pages, which can be freed
};

/// The memory of the strictest group, from the process's own up to the visible root.
group_memory memory_of_groups(const std::filesystem::path& own_groups = "/proc/self/cgroup",
                              const std::filesystem::path& mounted = "/sys/fs/cgroup");

}  // namespace tilewise::base
