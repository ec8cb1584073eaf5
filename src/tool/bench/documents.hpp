// SPDX-License-Identifier: Apache-2.0
// The documents whose experiments `bench --preset seeds` repeats.
#pragma once

#include "lab/plan/experiment.hpp"

namespace tilewise::cli {

/// The lab's own, and HiPerC's, whose field over time its application computes.
std::span<const lab::experiment> documents();

}  // namespace tilewise::cli
