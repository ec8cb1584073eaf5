// SPDX-License-Identifier: Apache-2.0
// What is measured beside the kernel's times: the cost of moving the data to a device and the results back, and what
// the ranks of a group of devices send each other, in a pass of its own.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/bench/operand_sets.hpp"

namespace tilewise::lab {

/// Fills in h2d, d2h, round_trip and end_to_end of those of the group's rows whose result is correct. By the host's
/// clock, each until the device has finished. Nothing on CPU devices, which have no transfers.
void measure_transfers(const group& what, const verified_case& inputs, operand_sets& memory, const measuring& how,
                       std::span<measured> rows);

/// Runs each right row once more with its exchanges metered, and measures the link between the ranks. Does nothing on
/// a single device.
void measure_travel(const group& what, const verified_case& inputs, const operand_sets& memory, const measuring& how,
                    std::span<measured> rows);

}  // namespace tilewise::lab
