// SPDX-License-Identifier: Apache-2.0
#include "base/cache_folder.hpp"

#include "base/variable.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::base {

namespace {

/// Whether this user namespace maps this owner's number. It shows all owners that it does not map with the same number,
/// usually nobody's.
bool is_known(uid_t owner) {
  std::ifstream numbers("/proc/self/uid_map");
  if (!numbers) return true;
  for (std::uint64_t first = 0, outside = 0, count = 0; numbers >> first >> outside >> count;)
    if (owner >= first && owner - first < count) return true;
  return false;
}

/// Whether the owner is another user. An owner can always rename files in the folder, despite its mode and the sticky
/// bit.
bool is_others(uid_t owner, unknown_owner unknown) {
  if (owner == geteuid() || owner == 0) return false;
  return unknown == unknown_owner::is_somebody_else || is_known(owner);
}

bool lets_others_rename(const struct stat& folder, unknown_owner unknown) {
  if (is_others(folder.st_uid, unknown)) return true;
  if ((folder.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (folder.st_mode & S_ISVTX) != 0) return false;
  // On many systems each user has a private group with the user's own number, and folders are often writable for it.
  const bool is_own_group = folder.st_gid == getegid() && getegid() == geteuid();
  return (folder.st_mode & S_IWOTH) != 0 || !is_own_group;
}

}  // namespace

bool others_may_rename_in(const std::string& folder, unknown_owner unknown) {
  std::error_code failure;
  const std::filesystem::path whole = std::filesystem::canonical(folder, failure);
  if (failure) return true;
  std::filesystem::path at;
  for (const std::filesystem::path& next : whole) {
    struct stat facts {};
    if (lstat((at /= next).c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || lets_others_rename(facts, unknown))
      return true;
  }
  return false;
}

namespace {

bool is_off() { return says_no(variable("TILEWISE_CACHE")); }

/// The descriptor of a folder that nobody else can use, or the reason why there is none.
struct private_folder {
  int descriptor = -1;
  std::string fault;
};

private_folder refused(int descriptor, std::string fault) {
  close(descriptor);
  return {-1, std::move(fault)};
}

private_folder open_private(const std::string& name, missing_folder if_missing) {
  if (!name.starts_with('/')) return {-1, "it does not begin with /; give TILEWISE_CACHE a whole path, or off"};
  const int made = if_missing == missing_folder::stays || mkdir(name.c_str(), 0700) == 0 ? 0 : errno;
  const int folder = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    if (errno == ENOTDIR || errno == ELOOP) return {-1, "it is not a folder, or is a link to one"};
    return {-1, std::string("it cannot be created: ") + std::strerror(errno == ENOENT ? made : errno)};
  }
  struct stat facts {};
  if (fstat(folder, &facts) != 0 || facts.st_uid != geteuid()) return refused(folder, "it belongs to another user");
  if ((facts.st_mode & 01777) != 0700) return refused(folder, "its mode is not 700; `chmod 700` makes it yours alone");
  if (others_may_rename_in((std::filesystem::path(".") / name).parent_path()))
    return refused(folder, "others may write to a folder above it, and put another in its place");
  return {folder, ""};
}

}  // namespace

bool make_private(const std::string& folder) {
  const int descriptor = open_private(folder, missing_folder::is_created).descriptor;
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

std::string cache_folder(missing_folder if_missing) {
  if (is_off()) return "";
  if (const std::string named = variable("TILEWISE_CACHE"); !named.empty() && !says_yes(named)) return named;
  std::string caches = variable("XDG_CACHE_HOME");
  if (!caches.starts_with('/')) {
    const std::string home = variable("HOME");
    if (!home.starts_with('/')) return "";
    caches = home + "/.cache";
  }
  if (if_missing == missing_folder::is_created) mkdir(caches.c_str(), 0700);  // may exist already
  return caches + "/tilewise";
}

int open_cache_folder(missing_folder if_missing) {
  const std::string name = cache_folder(if_missing);
  return name.empty() ? -1 : open_private(name, if_missing).descriptor;
}

std::string why_no_cache_folder() {
  if (is_off()) return "";
  const std::string name = cache_folder();
  if (name.empty()) return "the cache folder is not used because HOME does not name one";
  const private_folder folder = open_private(name, missing_folder::is_created);
  if (folder.descriptor >= 0) close(folder.descriptor);
  return folder.fault.empty() ? "" : "the cache folder '" + name + "' is not used because " + folder.fault;
}

}  // namespace tilewise::base
