// SPDX-License-Identifier: Apache-2.0
// Checks that all processes that mpirun has started are about to do the same. Otherwise they would wait for each other,
// or mix two results into one.
#pragma once

#include "registry/problem.hpp"

#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

/// How a rank was started: its build, and the arguments, except for --device, --threads, --device-memory and
/// --time-limit, which may differ between ranks. Relative paths count together with the current folder.
struct rank_call {
  std::string build, folder;
  std::vector<std::string> words;
};
rank_call call_of(const std::vector<std::string>& words);

/// The first rank that was started differently from rank 0, and the difference; empty if there is none.
std::string difference(std::span<const rank_call> of_ranks);

/// All ranks must call it first of all, once in each process. Throws `invalid_argument` on all ranks if they were
/// started differently. Does nothing without mpirun.
void require_same_call();

/// All that identifies a problem, with the exact bits of its numbers.
std::string in_full(const registry::problem& p);

/// All ranks must call it under mpirun. Throws `invalid_argument` on all ranks if the problems that their files pose
/// differ, or if `more`, any other content of the files, differs.
void require_same_problem(const registry::problem& p, const std::string& more = "");

}  // namespace tilewise::cli
