// SPDX-License-Identifier: Apache-2.0
#include "io/file_identity.hpp"

#include "base/printable.hpp"

#include <tilewise/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>

namespace tilewise::io {

namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as many as Linux follows

bool is_one_entry(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

std::string folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path().string() : "."; }

}  // namespace

std::string destination(const std::string& path) {
  if (char* found = realpath(path.c_str(), nullptr)) {
    std::string text = found;
    std::free(found);
    return text;
  }
  if (errno == ELOOP)
    throw error(errc::io, base::printable(path) + ": cannot be used: " + std::strerror(ELOOP) + "; name a file");
  fs::path at = path;
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0) return path;  // it exists without a name, as a pipe in /proc does
  std::error_code failure;
  for (int followed = 0; followed < most_links && fs::is_symlink(at, failure); ++followed) {
    const fs::path next = fs::read_symlink(at, failure);
    if (failure) break;
    at = at.parent_path() / next;
  }
  return at.string();
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  const bool first_exists = stat(a.c_str(), &first) == 0, second_exists = stat(b.c_str(), &second) == 0;
  if (first_exists != second_exists) return false;
  if (first_exists) return is_one_entry(first, second);
  const fs::path to = destination(a), other = destination(b);
  return to.filename() == other.filename() && stat(folder_of(to).c_str(), &first) == 0 &&
         stat(folder_of(other).c_str(), &second) == 0 && is_one_entry(first, second);
}

}  // namespace tilewise::io
