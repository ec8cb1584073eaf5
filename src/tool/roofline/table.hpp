// SPDX-License-Identifier: Apache-2.0
// What `roofline` prints about a device: a table and a chart.
#pragma once

#include "report/roofline/roofline.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tilewise::cli {

/// The device's roofs, then a line for each problem, with all details if `verbose`; at most 80 columns. `names_machine`
/// if there are several machines.
std::string roofline_block(const report::roofline& of, bool names_machine, bool verbose);

/// In bytes and operations per second; times in nanoseconds.
nlohmann::ordered_json to_json(const report::roofline& of);

/// A chart in plain ASCII, at most 20 lines of at most `columns` characters. Lines are the fastest and the slowest roof
/// that problems are compared with. Letters are the algorithms and types, at their largest size. Empty if no problem
/// has both roofs, or if there is no room.
std::string roofline_chart(const report::roofline& of, std::size_t columns);

/// The width of the chart: 76, or the environment variable COLUMNS if that is less.
std::size_t chart_columns();

}  // namespace tilewise::cli
