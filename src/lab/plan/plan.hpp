// SPDX-License-Identifier: Apache-2.0
// Which cases a command line asks for. A plan holds no data and opens no device.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/plan/request.hpp"

namespace tilewise::lab {

/// In the order of measuring: all devices of a problem in succession. Throws `invalid_argument` for a selector, variant
/// tuning, shape or setting that matches nothing, and if no problem asked for has an answer.
std::vector<group> make_plan(const request& wanted);

/// Selected variants of the plan's algorithms that have no row in it, each with the reason: "polymul/cuda:tiles", "no
/// cuda device was found or asked for".
std::vector<std::pair<std::string, std::string>> left_out(std::span<const group> plan, const request& wanted);

}  // namespace tilewise::lab
