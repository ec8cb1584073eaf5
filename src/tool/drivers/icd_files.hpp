// SPDX-License-Identifier: Apache-2.0
// The .icd files that the OpenCL loader reads: each names a driver's library.
#pragma once

#include "io/unfinished.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

/// In order of their names. Empty where OCL_ICD_VENDORS names a single file or library: the caller chose that one.
std::vector<std::filesystem::path> icd_files();

/// False for what is there and is no regular file: whoever reads a pipe waits for it.
bool can_be_read(const std::filesystem::path& icd);

/// The library in the file's first line; empty if it cannot be read.
std::string library_of(const std::filesystem::path& icd);

/// Where the library is: itself if it is a path, else what ld.so's cache has under its name.
std::vector<std::filesystem::path> files_of_library(const std::string& library);

/// A private folder of links to some .icd files, which the loader reads if the environment says so; removed at the end
/// of its scope.
class icd_folder {
 public:
  explicit icd_folder(std::span<const std::filesystem::path> icds);
  icd_folder(const icd_folder&) = delete;
  ~icd_folder();
  const std::string& name() const { return path_.native(); }

 private:
  bool take(const std::string& beginning);

  std::filesystem::path path_;
  io::unfinished noted_;
};

/// The variables that name the folder: ocl-icd's and the Khronos loader's.
inline constexpr const char* icd_folder_variables[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"};

}  // namespace tilewise::cli
