// SPDX-License-Identifier: Apache-2.0
// Decides which of the processes that mpirun has started prints: the first; others only when they fail.
#pragma once

#include "tool/exit_code.hpp"

#include <string>
#include <string_view>

namespace tilewise::cli {

/// Whether this process prints: it is the first rank, or mpirun has not started it.
bool is_first_rank();

/// Throws `unsupported` under mpirun: `what` cannot be done by several processes.
void require_one_process(std::string_view what);

/// The rank, to put before the message of a failure; empty for the first rank. Waits a moment for the others, so that a
/// failure of all ranks is reported once.
std::string rank_in_words();

/// Ends all ranks after a failure of this one, whatever they are waiting for. Returns only outside mpirun.
void end_all_ranks(exit_code code);

}  // namespace tilewise::cli
