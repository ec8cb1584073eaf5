// SPDX-License-Identifier: Apache-2.0
// Files of records, one JSON line each.
#pragma once

#include "record/record.hpp"

#include <filesystem>
#include <functional>

namespace tilewise::record {

/// Appends to a file. When write() returns, the whole line has left the process, so a killed run loses at most one
/// case. Several processes may append to one file.
class record_file {
 public:
  explicit record_file(std::filesystem::path path);  // throws io
  record_file(const record_file&) = delete;
  ~record_file();
  void write(const result& r);  // throws io

 private:
  void append(std::string_view line);
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  int file_;
};

/// Gives the records to `take` one by one, inflated if gzip compressed the file, so a file may be larger than memory. A
/// line that is no JSON, left by a killed run or a full disk, is skipped; `warnings` names the first few by number.
/// Empty lines are ignored. Any other damage throws `io` with the file and the line.
void read_records(const std::filesystem::path& file, const std::function<void(const result&)>& take,
                  std::vector<std::string>* warnings = nullptr);

}  // namespace tilewise::record
