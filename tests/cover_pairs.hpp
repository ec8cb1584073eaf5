// SPDX-License-Identifier: Apache-2.0
// Few rows of values in which every two values meet.
#pragma once

#include <vector>

namespace tilewise::tests {

/// Rows of values, one per axis, so that each pair of values of two axes occurs in a row; axis i has sizes[i] values.
std::vector<std::vector<unsigned>> cover_pairs(const std::vector<unsigned>& sizes);

}  // namespace tilewise::tests
