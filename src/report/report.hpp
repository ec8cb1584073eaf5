// Record file -> one self-contained HTML page, CSV, or a table for a README. Equal records give equal bytes.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace tilewise::report {

/// One record a line, schema "tilewise.result/1". A last line that a killed run left damaged is skipped and told in
/// `warnings`; any other damage throws `io` with the file and the line.
std::vector<nlohmann::json> read_records(const std::filesystem::path& file,
                                         std::vector<std::string>* warnings = nullptr);

/// The page: charts, tables and findings of records joined with the catalog. Written beside `out` and renamed.
void write_html(const std::vector<nlohmann::json>& records, const std::filesystem::path& out);

/// One row a record, units in the column names.
void write_csv(const std::vector<nlohmann::json>& records, const std::filesystem::path& out);

/// The README's table of measured results, between its markers.
std::string markdown(const std::vector<nlohmann::json>& records);

}  // namespace tilewise::report
