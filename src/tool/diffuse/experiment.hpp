// SPDX-License-Identifier: Apache-2.0
// The benchmark's document as an experiment of the laboratory: its sizes, its published times, and its field over time.
#pragma once

#include "lab/plan/experiment.hpp"

namespace tilewise::hiperc {

lab::experiment experiment();

}  // namespace tilewise::hiperc
