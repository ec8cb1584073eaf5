// SPDX-License-Identifier: Apache-2.0
// Files of records, one JSON line each.
#pragma once

#include "record/record.hpp"

#include <filesystem>
#include <functional>

namespace tilewise::record {

/// Appends. Each line has left the process as a whole when write returns: a killed run loses at most one case, and
/// several processes may append to one file.
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

/// Gives each record to `take`, one after the other, so that a file may be larger than memory. A line that is no JSON
/// was left by a killed run or a full disk: it is skipped and reported in `warnings`, the first few by their numbers.
/// Empty lines are passed over. Any other damage throws `io` with the file and the line.
void read_records(const std::filesystem::path& file, const std::function<void(const result&)>& take,
                  std::vector<std::string>* warnings = nullptr);

}  // namespace tilewise::record
