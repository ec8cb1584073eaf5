// SPDX-License-Identifier: Apache-2.0
// The roofline chart in a terminal.
#pragma once

#include "report/roofline/roofline.hpp"

#include <string>

namespace tilewise::cli {

/// In plain ASCII, at most 20 lines of at most `columns`: the fastest and the slowest of the roofs that problems are
/// held against as lines, and each algorithm and type at its largest size as a letter. Empty where no problem has both
/// roofs, or where there is no room.
std::string roofline_chart(const report::roofline& of, std::size_t columns);

/// 76, or as many as the environment variable COLUMNS says, if these are fewer.
std::size_t chart_columns();

}  // namespace tilewise::cli
