// SPDX-License-Identifier: Apache-2.0
// Measurements beside the kernel's times: how long it takes to move the data to a device and the results back, and, in
// a pass of its own, what the ranks of a group of devices send each other.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/bench/operand_sets.hpp"

namespace tilewise::lab {

/// Fills in h2d, d2h, round_trip and end_to_end for each row of the group whose result is correct. Times are by the
/// host's clock, until the device has finished. Does nothing on CPU devices, which have no transfers.
void measure_transfers(const group& what, const verified_case& inputs, operand_sets& memory, const measuring& how,
                       std::span<measured> rows);

/// Runs each correct row once more while its exchanges are timed and counted, and measures the link between the ranks.
/// Does nothing on a single device.
void measure_travel(const group& what, const verified_case& inputs, const operand_sets& memory, const measuring& how,
                    std::span<measured> rows);

}  // namespace tilewise::lab
