// SPDX-License-Identifier: Apache-2.0
#include "base/control_groups.hpp"

#include <fstream>

namespace tilewise::base {

namespace fs = std::filesystem;

std::vector<control_group> control_groups(const std::string& resource, const fs::path& own_groups,
                                          const fs::path& mounted) {
  std::vector<control_group> all;
  std::ifstream lines(own_groups);
  for (std::string line; std::getline(lines, line);) {  // <number>:<controllers>:<group>
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_version_2 = controllers == ",,";
    if (!is_version_2 && controllers.find("," + resource + ",") == controllers.npos) continue;
    const std::string root = (is_version_2 ? mounted : mounted / resource).string();
    std::string group = line.substr(second + 1) == "/" ? "" : line.substr(second + 1);
    for (;; group.erase(group.rfind('/'))) {
      all.push_back({root + group, is_version_2});
      if (group.rfind('/') == group.npos) break;
    }
  }
  return all;
}

}  // namespace tilewise::base
