// SPDX-License-Identifier: Apache-2.0
// Whether the processes that mpirun has started are about to do the same: otherwise they would wait for each other, or
// make one result of two.
#pragma once

#include "registry/problem.hpp"

#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

/// What was started as a rank: which build, and the words after the tool's name but for those that a rank may have to
/// itself, --device, --threads, --device-memory and --time-limit. Files without a leading / count with the folder that
/// they are looked for in.
struct rank_call {
  std::string build, folder;
  std::vector<std::string> words;
};
rank_call call_of(const std::vector<std::string>& words);

/// The first rank that was started otherwise than rank 0, and in what; empty if there is none.
std::string difference(std::span<const rank_call> of_ranks);

/// Together, before anything else is: throws `invalid_argument` on all ranks if they were not started alike. Once for
/// each process; nothing in one that mpirun has not started.
void require_same_call();

/// All of a problem, its numbers to the bit.
std::string in_full(const registry::problem& p);

/// Together, under mpirun: throws `invalid_argument` on all ranks if their files pose different problems, or `more`,
/// which is what else they say, differs.
void require_same_problem(const registry::problem& p, const std::string& more = "");

}  // namespace tilewise::cli
