// SPDX-License-Identifier: Apache-2.0
#include "tool/record_input.hpp"

#include "record/file.hpp"
#include "tool/arrays/file_roles.hpp"
#include "tool/output.hpp"

namespace tilewise::cli {

void take_records(std::span<const std::string> files, const std::function<void(const record::result&)>& take) {
  for (const std::string& file : files) refuse_overwriting(file, io::standard_stream);
  std::vector<std::string> warnings;
  for (const std::string& file : files) record::read_records(file, take, &warnings);
  for (const std::string& warning : warnings) note("tilewise: " + warning);
}

report::row_table read_rows(std::span<const std::string> files) {
  report::row_table rows;
  take_records(files, [&](const record::result& r) { rows.add(r); });
  return rows;
}

}  // namespace tilewise::cli
