// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl_driver_folder.hpp"

#include "base/cache_folder.hpp"
#include "base/left_behind.hpp"
#include "base/variable.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::backend::opencl {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view moved_aside = "pocl.damaged-", of_one_run = "tilewise-drivers-";

/// A folder of this process. It is created before the drivers are loaded, so that it is removed after they end.
class run_folder {
 public:
  run_folder() = default;
  ~run_folder() {
    std::error_code ignored;
    if (!path_.empty() && getpid() == process_) fs::remove_all(path_, ignored);
  }
  run_folder(const run_folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  const pid_t process_ = getpid();
  const std::string path_ = base::make_temporary_folder(base::temporary_parents(), of_one_run);
};

/// 0, which is long ago, for what does not exist.
std::time_t time_of(const fs::path& file) {
  struct stat facts {};
  return lstat(file.c_str(), &facts) == 0 ? facts.st_mtim.tv_sec : 0;
}

/// To now. What is there is not opened: one would wait for a pipe.
void set_time_of(const std::string& file) {
  if (utimensat(AT_FDCWD, file.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0) return;
  if (const int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); made >= 0) close(made);
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

std::string make_folder_for_driver() {
  if (!base::variable("POCL_CACHE_DIR").empty()) return "";
  std::string objects = driver_folder();
  if (objects.empty()) {
    static const run_folder instead;
    objects = instead.path();
  }
  if (objects.empty())
    return "OpenCL drivers are not loaded because there is no private folder for what they compile; set TMPDIR to a "
           "writable folder.";
  setenv("POCL_CACHE_DIR", objects.c_str(), 1);
  return "";
}

bool is_driver_folder_of_run(const std::string& folder) {
  return fs::path(folder).filename().string().starts_with(std::string(of_one_run) + base::mark_of_process());
}

void make_path_for_driver() {
  if (!base::variable("PATH").empty()) return;
  char usual[64];
  if (const std::size_t size = confstr(_CS_PATH, usual, sizeof usual); size != 0 && size <= sizeof usual)
    setenv("PATH", usual, 1);
}

std::string driver_folder() {
  const std::string ours = base::cache_folder();
  if (ours.empty() || !base::make_private(ours) || !base::make_private(ours + "/pocl")) return "";
  std::error_code failure;
  const fs::path folder = fs::canonical(ours + "/pocl", failure);  // links on the way may be others' to change
  return failure ? "" : folder.string();
}

std::string driver_folder_aside() {
  return base::cache_folder() + "/" + std::string(moved_aside) + base::mark_of_process() + "0";
}

bool move_driver_folder_aside() {
  const std::string folder = driver_folder(), named = base::variable("POCL_CACHE_DIR");
  const bool is_used = !folder.empty() && (named.empty() || named == folder);
  return is_used && std::rename(folder.c_str(), driver_folder_aside().c_str()) == 0 && base::make_private(folder);
}

void tidy_driver_folder() {
  constexpr std::time_t hour = 60 * 60;
  const std::string ours = base::cache_folder(), last = ours + "/tidied";
  std::error_code ignored;
  if (ours.empty() || !fs::exists(ours + "/pocl", ignored) || time_of(last) > std::time(nullptr) - hour) return;
  set_time_of(last);
  limit_driver_objects(driver_folder());
  base::remove_left_behind(ours, moved_aside);
}

void limit_driver_objects(const std::string& folder, std::uint64_t limit) {
  constexpr std::time_t hour = 60 * 60, day = 24 * hour;
  const std::time_t recent = std::time(nullptr) - day, abandoned = std::time(nullptr) - hour;
  std::vector<base::cached_item> all;
  std::error_code ignored;
  for (const fs::path& group : entries_of(folder)) {
    const std::string name = group.filename();
    if (name.starts_with("tempfile_") || name.starts_with(".old-")) {
      // Left by a process that has ended: PoCL leaves two or three empty ones in each, though nothing is compiled.
      if (time_of(group) <= abandoned) fs::remove_all(group, ignored);
    } else {
      for (const fs::path& program : entries_of(group))
        all.push_back({program, bytes_in(program), std::max(time_of(program), time_of(program / "last_accessed"))});
    }
  }
  for (const base::cached_item& old : base::surplus(std::move(all), limit, recent)) remove_program(old.name, folder);
}

}  // namespace tilewise::backend::opencl
