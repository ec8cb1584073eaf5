// SPDX-License-Identifier: Apache-2.0
// One function per document.
#pragma once

#include "lab/plan/experiment.hpp"

namespace tilewise::lab::seeds {

std::vector<experiment> polynomials();
std::vector<experiment> prefix_sum();
std::vector<experiment> lecture();
std::vector<experiment> blocks_and_merge();

}  // namespace tilewise::lab::seeds
