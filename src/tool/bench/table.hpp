// SPDX-License-Identifier: Apache-2.0
// What `bench` prints: one block per problem with one line per row, and a closing sentence.
#pragma once

#include "lab/bench/measured.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tilewise::cli {

/// The names of the columns, and what they mean.
std::string bench_heading();

/// All rows of one problem, on any device; at most 80 columns.
std::string bench_block(const std::vector<lab::measured>& rows);

/// How many results were checked and correct, and the fastest row of ours at each algorithm's largest size. It names no
/// row if the best times are implausible: the next best would be a slow row that only looks like a winner.
std::string bench_verdict(const std::vector<lab::measured>& rows);

/// The heading for the problems of documents, whose published figures are shown beside our times.
std::string seeds_heading();

/// All rows of one problem that a document measured, on any device; at most 80 columns.
std::string seeds_block(const std::vector<lab::measured>& rows);

/// The variants that have no row, each reason once; empty if there are none.
std::string seeds_left_out(const std::vector<std::pair<std::string, std::string>>& missing);

}  // namespace tilewise::cli
