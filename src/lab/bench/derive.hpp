// SPDX-License-Identifier: Apache-2.0
// What the times of a group say when compared.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"

namespace tilewise::lab {

/// Fills in rates and ratios once it is known which rows remained correct: nothing is compared with a wrong one.
/// `rows` are the group's, in its order.
void derive(const group& what, std::span<measured> rows);

/// Marks as implausible a kernel that surely took longer than the same work with its transfers, and says so.
void hold_against_round_trip(measured& m);

}  // namespace tilewise::lab
