// SPDX-License-Identifier: Apache-2.0
// Who speaks, of the processes that mpirun has started: the first; others only when they fail.
#pragma once

#include "tool/exit_code.hpp"

#include <string>
#include <string_view>

namespace tilewise::cli {

/// Whether this process prints: all do that mpirun has not started, and of those that it has, the first.
bool is_first_rank();

/// Throws `unsupported` in a process that mpirun has started, for what cannot be done by several.
void require_one_process(std::string_view what);

/// What precedes the message of a failure: the rank, but for the first. Waits a moment on the others, so that what
/// fails on all ranks is told once.
std::string rank_in_words();

/// Ends all ranks, whatever they wait for, after a failure of this one; returns only outside of mpirun.
void end_all_ranks(exit_code code);

}  // namespace tilewise::cli
