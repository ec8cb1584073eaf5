// SPDX-License-Identifier: Apache-2.0
#include "base/shared_folder.hpp"

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::base {

namespace {

bool lets_others_rename(const struct stat& folder) {
  if ((folder.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (folder.st_mode & S_ISVTX) != 0) return false;
  // Where each user has a group of their own, it has the user's number, and their folders are often open to it.
  const bool is_own_group = folder.st_gid == getegid() && getegid() == geteuid();
  return (folder.st_mode & S_IWOTH) != 0 || !is_own_group;
}

}  // namespace

bool others_may_rename_in(const std::string& folder) {
  std::error_code failure;
  const std::filesystem::path whole = std::filesystem::canonical(folder, failure);
  if (failure) return true;
  std::filesystem::path at;
  for (const std::filesystem::path& next : whole) {
    struct stat facts {};
    if (lstat((at /= next).c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || lets_others_rename(facts)) return true;
  }
  return false;
}

}  // namespace tilewise::base
