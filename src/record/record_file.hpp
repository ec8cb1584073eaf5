// Files of records, one JSON line each.
#pragma once

#include "record/record.hpp"

#include <filesystem>
#include <fstream>

namespace tilewise::record {

/// Appends; each line has left the process when write returns, so that a killed run loses at most one case.
class record_file {
 public:
  explicit record_file(std::filesystem::path path);  // throws io
  void write(const result& r);                       // throws io

 private:
  std::filesystem::path path_;
  std::ofstream out_;
};

/// A last line left damaged by a killed run is skipped and reported in `warnings`; any other damage throws `io` with
/// the file and the line.
std::vector<result> read_records(const std::filesystem::path& file, std::vector<std::string>* warnings = nullptr);

}  // namespace tilewise::record
