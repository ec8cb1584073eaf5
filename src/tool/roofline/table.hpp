// SPDX-License-Identifier: Apache-2.0
// What `roofline` prints of a device.
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

}  // namespace tilewise::cli
