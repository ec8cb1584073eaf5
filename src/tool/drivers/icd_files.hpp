// SPDX-License-Identifier: Apache-2.0
// The .icd files that the OpenCL loader reads. Each names a driver's library.
#pragma once

#include "io/unfinished.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

/// All .icd files, by name. Empty if OCL_ICD_VENDORS names a single file or library: then the caller chose that one.
std::vector<std::filesystem::path> icd_files();

/// False if it exists and is no regular file, since reading a pipe would wait.
bool can_be_read(const std::filesystem::path& icd);

/// The library that the file's first line names; empty if the file cannot be read.
std::string library_of(const std::filesystem::path& icd);

/// The files of a library: the path itself, or what ld.so's cache has under that name.
std::vector<std::filesystem::path> files_of_library(const std::string& library);

/// A private folder of links to some .icd files, for the loader to read in place of the usual folder. It is removed at
/// the end of its scope.
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

/// The environment variables that name the folder: ocl-icd's and the Khronos loader's.
inline constexpr const char* icd_folder_variables[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"};

}  // namespace tilewise::cli
