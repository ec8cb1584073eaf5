// SPDX-License-Identifier: Apache-2.0
// What the ranks of a group of devices send each other: a pass of its own, after the times were taken.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/bench/operand_sets.hpp"

namespace tilewise::lab {

/// Runs each right row once more with its exchanges metered, and measures the link between the ranks. Does nothing on
/// a single device.
void measure_travel(const group& what, const verified_case& inputs, const operand_sets& memory, const measuring& how,
                    std::span<measured> rows);

}  // namespace tilewise::lab
