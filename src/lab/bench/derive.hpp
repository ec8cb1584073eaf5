// SPDX-License-Identifier: Apache-2.0
// Compares the times of a group's rows.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"

namespace tilewise::lab {

/// Fills in rates and ratios. Call it once it is known which rows stayed correct, since nothing is compared with a
/// wrong row. `rows` are the group's, in its order.
void derive(const group& what, std::span<measured> rows);

/// Marks a kernel as implausible, with the reason, if it surely took longer than the same work with its transfers.
void hold_against_round_trip(measured& m);

}  // namespace tilewise::lab
