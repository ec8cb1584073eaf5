// SPDX-License-Identifier: Apache-2.0
// The options that pose problems to algorithms, of `bench` and `tune`.
#pragma once

#include "lab/plan/request.hpp"
#include "tool/commands.hpp"

namespace tilewise::cli {

struct problem_options {
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> shapes, settings, types, operations;
};
void add_problem_options(CLI::App& command, problem_options& to);  // --n --shape --set --dtype --op

/// Throws `invalid_argument` for what is no size, type or setting.
void pose(const problem_options& asked, lab::request& to);

}  // namespace tilewise::cli
