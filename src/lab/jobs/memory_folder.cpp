// SPDX-License-Identifier: Apache-2.0
#include "lab/jobs/memory_folder.hpp"

#include "base/left_behind.hpp"

#include <tilewise/error.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace tilewise::lab {

namespace {

constexpr const char* prefix = "tilewise-files-";

}  // namespace

memory_folder::memory_folder() {
  std::vector<std::string> parents = base::temporary_parents();
  parents.insert(parents.begin(), "/dev/shm");
  path_ = base::make_temporary_folder(parents, prefix);
  if (path_.empty())
    throw error(errc::io, "there is no folder for the files to be measured; set TMPDIR to one that can be written");
  noted_.set(path_);
}

memory_folder::~memory_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tilewise::lab
