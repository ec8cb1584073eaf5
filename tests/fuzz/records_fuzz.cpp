// SPDX-License-Identifier: Apache-2.0
// Any bytes are records that are written and read again alike, with a warning for each line that is left out, or an io
// error.
#include "fuzz.hpp"
#include "record/record_file.hpp"
#include "record/record_json.hpp"

using namespace tilewise;

namespace {

void require_written_alike(const record::result& r) {
  const std::string written = record::to_json(r).dump();
  const std::string again = record::to_json(record::from_json(nlohmann::json::parse(written))).dump();
  fuzz::require(again == written, "a record is read as it was written", again);
}

}  // namespace

TILEWISE_FUZZ_TARGET {
  const fuzz::memory_file file(text);
  std::vector<std::string> warnings;
  fuzz::is_file_read(file.path(), {errc::io},
                     [&] { record::read_records(file.path(), require_written_alike, &warnings); });
  fuzz::require(warnings.size() <= 6, "few warnings are told of one file");
  for (const std::string& warning : warnings)
    fuzz::require(warning.find(file.path()) != warning.npos, "a warning names the file", warning);
}
