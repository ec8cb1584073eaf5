// SPDX-License-Identifier: Apache-2.0
// The cost of moving the data to a device and the results back: the clocks beside the kernel's.
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

}  // namespace tilewise::lab
