// Records -> one self-contained HTML page, CSV, or a table for a README. Equal records give equal bytes.
#pragma once

#include "record/record.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace tilewise::report {

/// The page: charts, tables and findings of records joined with the catalog. Written beside `out` and renamed.
void write_html(const std::vector<record::result>& records, const std::filesystem::path& out);

/// One row a record, units in the column names.
void write_csv(const std::vector<record::result>& records, const std::filesystem::path& out);

/// The README's table of measured results, between its markers.
std::string markdown(const std::vector<record::result>& records);

}  // namespace tilewise::report
