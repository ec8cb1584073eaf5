// SPDX-License-Identifier: Apache-2.0
#include "tool/drivers/icd_files.hpp"

#include "base/left_behind.hpp"
#include "base/variable.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fstream>
#include <iterator>

#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::cli {

namespace fs = std::filesystem;

static constexpr const char* prefix = "tilewise-icd-";

std::vector<fs::path> icd_files() {
  fs::path folder = "/etc/OpenCL/vendors";
  for (const char* name : {"OPENCL_VENDOR_PATH", "OCL_ICD_VENDORS"})
    if (const std::string value = base::variable(name); !value.empty()) folder = value;
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".icd") found.push_back(fs::absolute(entry.path(), ignored));
  std::sort(found.begin(), found.end());
  return found;
}

bool can_be_read(const fs::path& icd) {
  std::error_code unknown;
  return !fs::exists(icd, unknown) || fs::is_regular_file(icd, unknown);
}

std::string library_of(const fs::path& icd) {
  std::ifstream file;
  if (can_be_read(icd)) file.open(icd);
  char text[PATH_MAX] = "";
  file.getline(text, sizeof text);  // the file may contain anything
  const std::string line = text;
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

std::vector<fs::path> files_of_library(const std::string& library) {
  if (library.find('/') != library.npos) return {library};
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  const std::string cache((std::istreambuf_iterator<char>(file)), {});
  const std::string wanted = "/" + library + '\0';  // the cache contains null-terminated paths
  std::vector<fs::path> found;
  for (auto at = cache.find(wanted); at != cache.npos && !library.empty(); at = cache.find(wanted, at + 1)) {
    const auto begin = cache.rfind('\0', at) + 1;
    found.emplace_back(cache.substr(begin, at + wanted.size() - 1 - begin));
  }
  return found;
}

icd_folder::icd_folder(std::span<const fs::path> icds) {
  for (const std::string& parent : base::temporary_parents()) {
    base::remove_left_behind(parent, prefix);
    if (take(parent + "/" + prefix + base::mark_of_process())) break;
  }
  if (path_.empty())
    throw error(errc::io, "cannot create a folder for temporary files in /tmp; set TMPDIR to a writable one");
  for (const fs::path& icd : icds) {
    std::error_code failure, ignored;
    fs::create_symlink(icd, path_ / icd.filename(), failure);
    if (!failure) continue;
    fs::remove_all(path_, ignored);
    throw error(errc::io, path_.string() + ": cannot be written: " + failure.message() +
                              "; set TMPDIR to a folder with room for temporary files");
  }
}

/// Records the folder before it creates it, so that no signal comes in between.
bool icd_folder::take(const std::string& beginning) {
  for (int number = 0; number < 1000; ++number) {
    path_ = beginning + std::to_string(number);
    if (!noted_.set(path_.native())) break;
    if (mkdir(path_.c_str(), 0700) == 0) return true;
    noted_.clear();
    if (errno != EEXIST) break;
  }
  path_.clear();
  return false;
}

icd_folder::~icd_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace tilewise::cli
