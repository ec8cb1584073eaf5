// Running a chosen variant on host data: staging is the same for every algorithm, so it is here once.
#pragma once

#include "registry/choose.hpp"

namespace tilewise::registry {

/// Checks that the problem has an answer; throws `invalid_argument` with the algorithm's sentence.
void check(const problem& p);

/// Runs on host memory: copies in, runs, copies out and waits; on a CPU device it works in place on the caller's
/// memory. Pointers are in the order of what->inputs and what->outputs. An output that is also an input is used in
/// place.
void execute_on_host(const problem& p, const choice& how, backend::queue& queue, std::span<const void* const> inputs,
                     std::span<void* const> outputs);

}  // namespace tilewise::registry
