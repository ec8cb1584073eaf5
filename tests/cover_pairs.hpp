// SPDX-License-Identifier: Apache-2.0
// Makes few rows of values in which every pair of values occurs.
#pragma once

#include <vector>

namespace tilewise::tests {

/// Rows with one value for each axis; axis i has sizes[i] values. Each pair of values of two axes occurs in some row.
std::vector<std::vector<unsigned>> cover_pairs(const std::vector<unsigned>& sizes);

}  // namespace tilewise::tests
