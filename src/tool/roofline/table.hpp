// SPDX-License-Identifier: Apache-2.0
// What `roofline` prints of a device: a table and a chart.
#pragma once

#include "report/roofline/roofline.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tilewise::cli {

/// Its roofs, then a line for each problem, and all about it if `verbose`; at most 80 columns. `names_machine`: there
/// are several.
std::string roofline_block(const report::roofline& of, bool names_machine, bool verbose);

/// Bytes, operations and seconds; times in nanoseconds.
nlohmann::ordered_json to_json(const report::roofline& of);

/// In plain ASCII, at most 20 lines of at most `columns`: the fastest and the slowest of the roofs that problems are
/// held against as lines, and each algorithm and type at its largest size as a letter. Empty where no problem has both
/// roofs, or where there is no room.
std::string roofline_chart(const report::roofline& of, std::size_t columns);

/// 76, or as many as the environment variable COLUMNS says, if these are fewer.
std::size_t chart_columns();

}  // namespace tilewise::cli
