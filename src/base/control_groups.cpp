// SPDX-License-Identifier: Apache-2.0
#include "base/control_groups.hpp"

#include <algorithm>
#include <charconv>
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

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// The names of a version's files.
struct files {
  const char *limit, *usage, *facts, *file_pages, *shared_pages;
};
constexpr files of_version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", "total_cache",
                             "total_shmem"},
    of_version_2{"memory.max", "memory.current", "memory.stat", "file", "shmem"};

/// The number in a file, after `key` unless that is empty. Returns `otherwise` for "max" and other text.
std::uint64_t number_in(const fs::path& file, const std::string& key, std::uint64_t otherwise) {
  std::ifstream facts(file);
  for (std::string word; facts >> word; facts.ignore(256, '\n')) {
    if (!key.empty() && word != key) continue;
    if (!key.empty()) facts >> word;
    std::uint64_t number = 0;
    return std::from_chars(word.data(), word.data() + word.size(), number).ec == std::errc() ? number : otherwise;
  }
  return otherwise;
}

group_memory of_group(const fs::path& group, const files& names) {
  const std::uint64_t most = number_in(group / names.limit, "", no_limit);
  if (most == no_limit) return {};
  const std::uint64_t used = number_in(group / names.usage, "", 0);
  const std::uint64_t cached = number_in(group / names.facts, names.file_pages, 0);
  // Cached pages include shared memory and tmpfs files, which cannot be freed.
  const std::uint64_t shared = number_in(group / names.facts, names.shared_pages, 0);
  const std::uint64_t can_go = cached - std::min(cached, shared);
  return {most, most - std::min(most, used - std::min(used, can_go))};
}

}  // namespace

group_memory memory_of_groups(const fs::path& own_groups, const fs::path& mounted) {
  group_memory all;
  for (const control_group& group : control_groups("memory", own_groups, mounted)) {
    const group_memory one = of_group(group.folder, group.is_version_2 ? of_version_2 : of_version_1);
    all = {std::min(all.most, one.most), std::min(all.left, one.left)};
  }
  return all;
}

}  // namespace tilewise::base
