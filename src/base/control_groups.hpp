// SPDX-License-Identifier: Apache-2.0
// The control groups that this process is in, as Linux presents them in version 1 or 2.
#pragma once

#include <filesystem>
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

}  // namespace tilewise::base
