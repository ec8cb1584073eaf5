// SPDX-License-Identifier: Apache-2.0
// The control groups that this process is in, as Linux presents them in version 1 or 2, and what they leave it
// of memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace tilewise::base {

struct control_group {
  std::filesystem::path folder;  // with the files of its limits; it need not be seen, as in a container
  bool is_version_2;
};

/// Those that limit a resource, such as "memory" or "cpu": from the process's own group up to the root of what it sees.
std::vector<control_group> control_groups(const std::string& resource, const std::filesystem::path& own_groups,
                                          const std::filesystem::path& mounted);

/// In bytes; the largest number where no group has a limit.
struct group_memory {
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t left = most;  // file pages on a disk, which can be freed, among it
};

/// Of the strictest group from the process's own up to the root of what it sees.
group_memory memory_of_groups(const std::filesystem::path& own_groups = "/proc/self/cgroup",
                              const std::filesystem::path& mounted = "/sys/fs/cgroup");

}  // namespace tilewise::base
