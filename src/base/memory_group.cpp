#include "base/memory_group.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace tilewise::base {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// How a version's files are called.
struct files {
  const char *limit, *usage, *facts, *file_pages;
};
constexpr files of_version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", "total_cache"},
    of_version_2{"memory.max", "memory.current", "memory.stat", "file"};

/// The number in a file, after `key` where there is one; "max" and what is no number are `otherwise`.
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
  const std::uint64_t can_go = number_in(group / names.facts, names.file_pages, 0);
  return {most, most - std::min(most, used - std::min(used, can_go))};
}

/// From a group up to `root`; a group that is not seen, as in a container, is skipped.
group_memory strictest(const fs::path& root, std::string group, const files& names) {
  group_memory all;
  for (;; group.erase(group.rfind('/'))) {
    const group_memory one = of_group(root.string() + group, names);
    all = {std::min(all.most, one.most), std::min(all.left, one.left)};
    if (group.rfind('/') == group.npos) return all;
  }
}

}  // namespace

group_memory memory_of_groups(const fs::path& own_groups, const fs::path& mounted) {
  group_memory all;
  const auto add = [&](const fs::path& root, const std::string& group, const files& names) {
    const group_memory one = strictest(root, group, names);
    all = {std::min(all.most, one.most), std::min(all.left, one.left)};
  };
  std::ifstream lines(own_groups);
  for (std::string line; std::getline(lines, line);) {  // <number>:<controllers>:<group>
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1) == "/" ? "" : line.substr(second + 1);
    if (controllers == ",,") add(mounted, group, of_version_2);
    if (controllers.find(",memory,") != controllers.npos) add(mounted / "memory", group, of_version_1);
  }
  return all;
}

}  // namespace tilewise::base
