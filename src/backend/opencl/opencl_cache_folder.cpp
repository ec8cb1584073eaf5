// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl_cache_folder.hpp"

#include "base/left_behind.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::backend::opencl {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view moved_aside = "pocl.damaged-", of_one_run = "tilewise-drivers-";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_off() { return variable("TILEWISE_CACHE") == "off"; }

/// Empty if nothing names a folder.
std::string folder_name(missing_folder if_missing = missing_folder::is_created) {
  if (const std::string named = variable("TILEWISE_CACHE"); !named.empty()) return named;
  std::string base = variable("XDG_CACHE_HOME");
  if (!base.starts_with('/')) {
    const std::string home = variable("HOME");
    if (!home.starts_with('/')) return "";
    base = home + "/.cache";
  }
  if (if_missing == missing_folder::is_created) mkdir(base.c_str(), 0700);  // may exist already
  return base + "/tilewise";
}

/// A folder that nobody else can write to, or why it is not one.
struct private_folder {
  int descriptor = -1;
  std::string fault;
};

private_folder refused(int descriptor, std::string fault) {
  close(descriptor);
  return {-1, std::move(fault)};
}

private_folder open_private(const std::string& name, missing_folder if_missing = missing_folder::is_created) {
  const int made = if_missing == missing_folder::stays || mkdir(name.c_str(), 0700) == 0 ? 0 : errno;
  const int folder = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    if (errno == ENOTDIR || errno == ELOOP) return {-1, "it is not a folder, or is a link to one"};
    return {-1, std::string("it cannot be created: ") + std::strerror(errno == ENOENT ? made : errno)};
  }
  struct stat facts {};
  if (fstat(folder, &facts) != 0 || facts.st_uid != geteuid()) return refused(folder, "it belongs to another user");
  if ((facts.st_mode & 07777) != 0700) return refused(folder, "others may use it; `chmod 700` makes it yours alone");
  return {folder, ""};
}

bool is_private(const std::string& name) {
  const int folder = open_private(name).descriptor;
  if (folder >= 0) close(folder);
  return folder >= 0;
}

/// A folder of this process. It is created before the drivers are loaded, so that it is removed after they end.
class run_folder {
 public:
  run_folder() {
    for (const std::string& parent : {variable("TMPDIR"), std::string("/tmp")}) {
      if (!parent.starts_with('/')) continue;
      base::remove_left_behind(parent, of_one_run);
      path_ = parent + "/" + std::string(of_one_run) + base::mark_of_process() + "XXXXXX";
      if (mkdtemp(path_.data()) != nullptr) return;
    }
    path_.clear();
  }
  ~run_folder() {
    std::error_code ignored;
    if (!path_.empty() && getpid() == process_) fs::remove_all(path_, ignored);
  }
  run_folder(const run_folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  const pid_t process_ = getpid();
  std::string path_;
};

}  // namespace

int open_cache_folder(missing_folder if_missing) {
  const std::string name = folder_name(if_missing);
  return is_off() || name.empty() ? -1 : open_private(name, if_missing).descriptor;
}

std::string why_no_cache() {
  if (is_off()) return "";
  const std::string name = folder_name();
  const private_folder folder = name.empty() ? private_folder{-1, "HOME does not name one"} : open_private(name);
  if (folder.descriptor >= 0) close(folder.descriptor);
  if (folder.fault.empty()) return "";
  return "OpenCL programs are rebuilt in every run: the cache folder " + (name.empty() ? "" : "'" + name + "' ") +
         "is not used because " + folder.fault;
}

std::string make_folder_for_driver() {
  if (!variable("POCL_CACHE_DIR").empty()) return "";
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

std::string driver_folder() {
  const std::string ours = folder_name();
  if (is_off() || ours.empty() || !is_private(ours) || !is_private(ours + "/pocl")) return "";
  return ours + "/pocl";
}

std::string driver_folder_aside() { return folder_name() + "/" + std::string(moved_aside) + std::to_string(getpid()); }

bool move_driver_folder_aside() {
  const std::string folder = driver_folder(), named = variable("POCL_CACHE_DIR");
  const bool is_used = !folder.empty() && (named.empty() || named == folder);
  return is_used && std::rename(folder.c_str(), driver_folder_aside().c_str()) == 0 && is_private(folder);
}

void remove_old_driver_folders() { base::remove_left_behind(folder_name(), moved_aside); }

}  // namespace tilewise::backend::opencl
