// Records -> a self-contained HTML page, a CSV file, or a table for a README. Equal records give equal bytes.
#pragma once

#include "record/record.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace tilewise::report {

/// The page: charts, tables and findings from records and the catalog. Written beside `out` and renamed.
void write_html(const record::results& records, const std::filesystem::path& out);

/// One row per record, units in the column names.
void write_csv(const record::results& records, const std::filesystem::path& out);

/// The README's table of measured results, between its markers.
std::string markdown(const record::results& records);

}  // namespace tilewise::report
