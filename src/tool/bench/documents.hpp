// SPDX-License-Identifier: Apache-2.0
// The documents whose experiments `bench --preset seeds` repeats.
#pragma once

#include "lab/plan/experiment.hpp"

namespace tilewise::cli {

/// The laboratory's documents, and HiPerC, whose application computes its field over time.
std::span<const lab::experiment> documents();

}  // namespace tilewise::cli
