// SPDX-License-Identifier: Apache-2.0
// Finds the cases that a command line asks for. A plan holds no data and opens no device.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/plan/request.hpp"

namespace tilewise::lab {

/// The groups in the order of measuring: for each problem, all its devices in succession. Throws `invalid_argument` for
/// a selector, variant, tuning, shape or setting that matches nothing, and if none of the problems has an answer.
std::vector<group> make_plan(const request& wanted);

/// The selected variants of the plan's algorithms that have no row in it, each with the reason: "polymul/cuda:tiles",
/// "no cuda device was found or asked for".
std::vector<std::pair<std::string, std::string>> left_out(std::span<const group> plan, const request& wanted);

}  // namespace tilewise::lab
