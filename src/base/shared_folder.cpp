// SPDX-License-Identifier: Apache-2.0
#include "base/shared_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::base {

namespace {

/// Whether this user namespace has a number for this owner; all whom it has none for are shown with one that is
/// nobody's.
bool is_known(uid_t owner) {
  std::ifstream numbers("/proc/self/uid_map");
  if (!numbers) return true;
  for (std::uint64_t first = 0, outside = 0, count = 0; numbers >> first >> outside >> count;)
    if (owner >= first && owner - first < count) return true;
  return false;
}

/// Whoever owns a folder may rename what is in it, whatever its mode is now, and despite the sticky bit.
bool is_others(uid_t owner, unknown_owner unknown) {
  if (owner == geteuid() || owner == 0) return false;
  return unknown == unknown_owner::is_somebody_else || is_known(owner);
}

bool lets_others_rename(const struct stat& folder, unknown_owner unknown) {
  if (is_others(folder.st_uid, unknown)) return true;
  if ((folder.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (folder.st_mode & S_ISVTX) != 0) return false;
  // Where each user has a group of their own, it has the user's number, and their folders are often open to it.
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

}  // namespace tilewise::base
