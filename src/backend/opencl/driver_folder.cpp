// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/driver_folder.hpp"

#include "base/cache_folder.hpp"
#include "base/left_behind.hpp"
#include "base/variable.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace tilewise::backend::opencl {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view moved_aside = "pocl.damaged-", of_one_run = "tilewise-drivers-";

/// More bytes and files than PoCL writes for a program. If it cannot write, it ends the process.
constexpr std::uint64_t room_for_driver = 16 << 20, files_of_driver = 256;

/// PoCL's paths have at most 1024 bytes; names within its folder take about 150 of them.
constexpr std::size_t longest_folder = 768;

/// Whether the limit on file sizes is too low for a driver's files: the reason as the end of a sentence, or empty.
std::string fault_of_limit() {
  rlimit largest{};
  if (getrlimit(RLIMIT_FSIZE, &largest) != 0 || largest.rlim_cur >= room_for_driver) return "";
  return "no file may have more than " + std::to_string(largest.rlim_cur) +
         " bytes here, and what they compile may have more; raise the limit with `ulimit -f`";
}

/// Why a driver cannot store compiled programs in this folder, as the end of a sentence; empty if it can. Tries what
/// drivers do with a file. The file's name is like PoCL's, so that it is cleaned up later if it remains.
std::string fault_of(const std::string& folder) {
  const auto in_words = [](const char* what) { return std::string(what) + ": " + std::strerror(errno); };
  if (folder.size() > longest_folder) return "its name has more than " + std::to_string(longest_folder) + " bytes";
  if (folder == "/") return "drivers take no name of one byte";
  std::string name = folder + "/tempfile_XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return in_words("it cannot be written");
  unlink(name.c_str());
  std::string fault;
  struct statvfs facts {};
  const bool is_limited = fstatvfs(file, &facts) == 0 && facts.f_blocks != 0;
  if (is_limited && facts.f_bavail < room_for_driver / facts.f_frsize)
    fault = "less than " + std::to_string(room_for_driver >> 20) + " MiB are free there";
  else if (is_limited && facts.f_files != 0 && facts.f_favail < files_of_driver)
    fault = "it has room for less than " + std::to_string(files_of_driver) + " files";
  else if (pwrite(file, "", 1, 0) != 1)
    fault = in_words("it cannot be written");
  else if (void* const code = mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0); code == MAP_FAILED)
    fault = in_words("programs in it may not be run");
  else
    munmap(code, 1);
  close(file);
  return fault;
}

/// "; '/tmp' is not used because it cannot be written", for each folder that could not be used.
std::string& left_out() {
  static std::string clauses;
  return clauses;
}

/// The folder that the drivers use: they read their environment variables once.
std::string& in_use() {
  static std::string folder;
  return folder;
}

bool is_usable(const std::string& folder, const std::string& shown, std::string fault = "") {
  if (fault.empty()) fault = fault_of(folder);
  if (!fault.empty()) left_out() += "; " + shown + " is not used because " + fault;
  return fault.empty();
}

/// A folder for this process only. It is created before the drivers are loaded, so that it is removed after they are
/// unloaded.
class run_folder {
 public:
  run_folder() {
    for (const std::string& parent : base::temporary_parents()) {
      path_ = base::make_temporary_folder({parent}, of_one_run);
      if (is_usable(path_, "'" + parent + "'", path_.empty() ? "no folder can be made in it" : "")) return;
      remove();
    }
  }
  ~run_folder() { remove(); }
  run_folder(const run_folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  void remove() {
    std::error_code ignored;
    if (!path_.empty() && getpid() == process_) fs::remove_all(path_, ignored);
    path_.clear();
  }

  const pid_t process_ = getpid();
  std::string path_;
};

std::string use(const std::string& folder) {
  setenv("POCL_CACHE_DIR", folder.c_str(), 1);
  in_use() = folder;
  return "";
}

/// driver_folder(), if a driver can use it. Does not report why there is no cache folder: why_no_cache_folder() does.
std::string usable_driver_folder() {
  if (!base::why_no_cache_folder().empty() || base::cache_folder().empty()) return "";
  const std::string ours = base::cache_folder(), shown = "the cache folder '" + ours + "'", folder = driver_folder();
  if (!folder.empty()) return is_usable(folder, shown) ? folder : "";
  if (is_usable(ours, shown)) is_usable(ours, shown, "its folder pocl is not this user's alone");
  return "";
}

/// When the file was last modified; 0, which is long ago, if it does not exist.
std::time_t time_of(const fs::path& file) {
  struct stat facts {};
  return lstat(file.c_str(), &facts) == 0 ? facts.st_mtim.tv_sec : 0;
}

/// Sets the file's time to now; creates the file if it is missing. Does not open an existing one: that would wait if it
/// were a pipe.
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

/// Renames the program first, so that it disappears in one step for other processes.
void remove_program(const fs::path& program, const fs::path& folder) {
  static unsigned removed = 0;
  std::error_code failure;
  const fs::path away = folder / (".old-" + std::to_string(getpid()) + "-" + std::to_string(removed++));
  fs::rename(program, away, failure);
  fs::remove_all(failure ? program : away, failure);
}

}  // namespace

std::string make_folder_for_driver() {
  if (const std::string fault = fault_of_limit(); !fault.empty())
    return "OpenCL drivers are not loaded because " + fault + ".";
  if (const std::string named = base::variable("POCL_CACHE_DIR"); !named.empty()) {
    std::error_code failure;
    fs::create_directories(named, failure);                               // like PoCL
    const fs::path whole = failure ? "" : fs::canonical(named, failure);  // absolute
    const std::string none = failure ? "it cannot be created: " + failure.message() : "";
    if (is_usable(whole.string(), "POCL_CACHE_DIR, '" + named + "',", none)) return use(whole.string());
  }
  std::string objects = usable_driver_folder();
  if (objects.empty()) {
    static const run_folder instead;
    objects = instead.path();
  }
  if (objects.empty())
    return "OpenCL drivers are not loaded because there is no folder for what they compile" + left_out() +
           ". Set TMPDIR to a folder that can be written and has room.";
  return use(objects);
}

std::string fault_of_folder_in_use() {
  const std::string folder = in_use();
  const bool is_removed = !folder.empty() && access(folder.c_str(), F_OK) != 0;
  if (is_removed && driver_folder() != folder) base::make_private(folder);
  if (const std::string fault = fault_of_limit(); !fault.empty()) return fault;
  const std::string fault = folder.empty() ? "" : fault_of(folder);
  return fault.empty() ? "" : "'" + folder + "' is no longer usable: " + fault;
}

std::string folders_left_out() { return left_out().substr(std::min<std::size_t>(left_out().size(), 2)); }

bool is_driver_folder_of_run(const std::string& folder) {
  return fs::path(folder).filename().string().starts_with(std::string(of_one_run) + base::mark_of_process());
}

void make_path_for_driver() {
  bool has_linker = false;
  for (const char* name : {"COMPILER_PATH", "PATH"}) {
    std::string folders;
    for (const std::string& folder : base::absolute_folders(base::variable(name))) {
      has_linker = has_linker || access((folder + "/ld").c_str(), X_OK) == 0;
      folders += folder + ":";
    }
    const bool is_path = name == std::string_view("PATH");  // an empty PATH means the current folder
    if (is_path && (folders.empty() || !has_linker)) folders += base::usual_path;
    if (folders.ends_with(':')) folders.pop_back();
    if (folders != base::variable(name)) setenv(name, folders.c_str(), 1);
  }
}

std::string driver_folder() {
  const std::string ours = base::cache_folder();
  if (ours.empty() || !base::make_private(ours) || !base::make_private(ours + "/pocl")) return "";
  std::error_code failure;
  const fs::path folder = fs::canonical(ours + "/pocl", failure);  // others might change links on the path
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
      // Remains of a process that has ended: PoCL leaves two or three empty folders per process, even if nothing is
      // compiled.
      if (time_of(group) <= abandoned) fs::remove_all(group, ignored);
    } else {
      for (const fs::path& program : entries_of(group))
        all.push_back({program, bytes_in(program), std::max(time_of(program), time_of(program / "last_accessed"))});
    }
  }
  for (const base::cached_item& old : base::surplus(std::move(all), limit, recent)) remove_program(old.name, folder);
}

}  // namespace tilewise::backend::opencl
