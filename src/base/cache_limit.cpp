// SPDX-License-Identifier: Apache-2.0
#include "base/cache_limit.hpp"

#include <algorithm>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::base {

std::vector<cached_item> surplus(std::vector<cached_item> all, std::uint64_t limit, std::time_t recent) {
  std::sort(all.begin(), all.end(), [](const cached_item& a, const cached_item& b) { return a.used > b.used; });
  std::uint64_t kept = 0;
  auto first_old = all.begin();
  for (; first_old != all.end(); ++first_old)
    if ((kept += first_old->bytes) > limit && first_old->used <= recent) break;
  all.erase(all.begin(), first_old);
  std::reverse(all.begin(), all.end());
  return all;
}

void limit_entries(int directory, std::uint64_t limit) {
  constexpr std::time_t hour = 60 * 60;
  const int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listed = again < 0 ? nullptr : fdopendir(again);
  if (listed == nullptr) return;
  std::vector<cached_item> all;
  while (const dirent* entry = readdir(listed)) {
    const std::string_view name = entry->d_name;
    struct stat facts {};
    if (!name.ends_with(".bin") && !name.ends_with(".tmp")) continue;
    if (fstatat(directory, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0)
      all.push_back({std::string(name), static_cast<std::uint64_t>(facts.st_size), facts.st_mtim.tv_sec});
  }
  closedir(listed);
  for (const cached_item& old : surplus(std::move(all), limit, std::time(nullptr) - hour))
    unlinkat(directory, old.name.c_str(), 0);  // whoever has it open can still read it to the end
}

}  // namespace tilewise::base
