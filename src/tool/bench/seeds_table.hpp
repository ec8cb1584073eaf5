// SPDX-License-Identifier: Apache-2.0
// What `bench --preset seeds` prints: each document's own problem, its published figures next to our times.
#pragma once

#include "lab/bench/measured.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tilewise::cli {

std::string seeds_heading();

/// All rows of one problem that a document measured, on any device; at most 80 columns.
std::string seeds_block(const std::vector<lab::measured>& rows);

/// The variants that have no row, each reason once; empty if there are none.
std::string seeds_left_out(const std::vector<std::pair<std::string, std::string>>& missing);

}  // namespace tilewise::cli
