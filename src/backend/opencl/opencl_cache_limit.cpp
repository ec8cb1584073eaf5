// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl_cache_limit.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::backend::opencl {

namespace {

namespace fs = std::filesystem;

constexpr std::time_t hour = 60 * 60, day = 24 * hour;

/// 0, which is long ago, for what does not exist.
std::time_t time_of(const fs::path& file) {
  struct stat facts {};
  return lstat(file.c_str(), &facts) == 0 ? facts.st_mtim.tv_sec : 0;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure))
    all.push_back(at->path());
  return all;
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code failure, ignored;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure))
    if (at->is_regular_file(ignored)) bytes += at->file_size(ignored);
  return bytes;
}

/// In one step for everybody else: renamed first.
void remove_program(const fs::path& program, const fs::path& folder) {
  static unsigned removed = 0;
  std::error_code failure;
  const fs::path away = folder / (".old-" + std::to_string(getpid()) + "-" + std::to_string(removed++));
  fs::rename(program, away, failure);
  fs::remove_all(failure ? program : away, failure);
}

}  // namespace

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

void limit_programs(int directory, std::uint64_t limit) {
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

void limit_driver_objects(const std::string& folder, std::uint64_t limit) {
  const std::time_t recent = std::time(nullptr) - day;
  std::vector<cached_item> all;
  std::error_code ignored;
  for (const fs::path& group : entries_of(folder)) {
    const std::string name = group.filename();
    if (name.starts_with("tempfile_") || name.starts_with(".old-")) {  // left by a process that has ended
      if (time_of(group) <= recent) fs::remove_all(group, ignored);
    } else {
      for (const fs::path& program : entries_of(group))
        all.push_back({program, bytes_in(program), std::max(time_of(program), time_of(program / "last_accessed"))});
    }
  }
  for (const cached_item& old : surplus(std::move(all), limit, recent)) remove_program(old.name, folder);
}

}  // namespace tilewise::backend::opencl
