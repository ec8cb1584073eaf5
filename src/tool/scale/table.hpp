// SPDX-License-Identifier: Apache-2.0
// What `scale` prints of a curve.
#pragma once

#include "report/scale/scaling.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tilewise::cli {

/// A line for each number of processors, then what the curve says; at most 80 columns.
std::string scale_block(const report::scaling_curve& of);

/// Times in nanoseconds, intervals as [low, high].
nlohmann::ordered_json to_json(const report::scaling_curve& of);

}  // namespace tilewise::cli
