// SPDX-License-Identifier: Apache-2.0
#include "io/file_identity.hpp"

#include "base/printable.hpp"

#include <tilewise/error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::io {

namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as many as Linux follows

std::string folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path().string() : "."; }

/// Resolves a path name by name, like the system, and records the owners of the links that it follows.
class path_walk {
 public:
  explicit path_walk(const std::string& path) : shown_(base::printable(path)) { walk(path); }

  const fs::path& at() const { return at_; }
  bool ends_at_descriptor() const { return !behind_descriptor_.empty() && behind_descriptor_ == at_; }

  /// A user who can write to a folder on the path, such as their own or /tmp without the system's link protection,
  /// could place a link to any of our files there. So another user's link is followed only to a file of that user.
  void refuse_links_of_others() const {
    struct stat end {};
    if (stat(at_.c_str(), &end) != 0 && stat(folder_of(at_).c_str(), &end) != 0) return;
    for (const auto& [owner, link] : others_)
      if (owner != end.st_uid)
        throw error(errc::io, shown_ + ": " + base::printable(link) +
                                  " is a link of another user's to a place that is not theirs; name the place itself");
  }

 private:
  void walk(const fs::path& path) {
    if (path.is_absolute()) at_ = "/";
    for (const fs::path& name : path) {
      if (name == "/") continue;
      struct stat facts {};
      const fs::path next = at_ / name;
      if (lstat(next.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) {
        at_ = next;
        continue;
      }
      if (++followed_ > most_links)
        throw error(errc::io, shown_ + ": cannot be used: " + std::strerror(ELOOP) + "; name a file");
      if (facts.st_uid != geteuid() && facts.st_uid != 0) others_.emplace_back(facts.st_uid, next.string());
      const bool is_descriptor = at_.native().starts_with("/proc/") && at_.filename() == "fd";
      std::error_code ignored;
      walk(fs::read_symlink(next, ignored));
      if (is_descriptor) behind_descriptor_ = at_;
    }
  }

  std::string shown_;
  fs::path at_, behind_descriptor_;
  int followed_ = 0;
  std::vector<std::pair<uid_t, std::string>> others_;
};

}  // namespace

std::string destination(const std::string& path) {
  path_walk walk(path);
  struct stat facts {};
  if (stat(walk.at().c_str(), &facts) != 0 && stat(path.c_str(), &facts) == 0)
    return path;  // it exists but has no name, like a pipe in /proc
  walk.refuse_links_of_others();
  return walk.at().string();
}

bool is_open_file(const std::string& path) { return path_walk(path).ends_at_descriptor(); }

int open_folder_of(const std::string& destination) {
  const fs::path folder = (fs::path(".") / destination).parent_path();
  int at = -1;
  for (const fs::path& next : folder) {
    const int entered = openat(at < 0 ? AT_FDCWD : at, next.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int failure = errno;
    if (at >= 0) close(at);
    errno = failure;
    if ((at = entered) < 0) return -1;
  }
  return at;
}

const char* name_within_folder(const std::string& destination) {
  return destination.c_str() + destination.rfind('/') + 1;  // npos + 1 is 0
}

file_identity identity_of(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0) return {facts.st_dev, facts.st_ino, ""};
  const fs::path to = destination(path);
  if (stat(folder_of(to).c_str(), &facts) == 0) return {facts.st_dev, facts.st_ino, to.filename()};
  return {.name = to};  // its folder does not exist either
}

file_identity identity_of_stream(int descriptor) {
  struct stat facts {};
  if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode)) return {facts.st_dev, facts.st_ino, ""};
  return {.name = "stream " + std::to_string(descriptor)};
}

}  // namespace tilewise::io
