// SPDX-License-Identifier: Apache-2.0
// How the processes of one host share its processors: mpirun may have bound each to some of them.
#pragma once

#include <bitset>
#include <cstddef>
#include <span>

#include <sched.h>

namespace tilewise::backend::group {

/// Those that a process may run on.
using processor_set = std::bitset<CPU_SETSIZE>;

/// Those of a process, by default this one; empty where the system does not say.
processor_set processors_of_process(pid_t which = 0);

/// How many rank `index` has for itself where ranks that may run on the same ones share them equally; at least 1.
unsigned processors_of(std::span<const processor_set> of_ranks, std::size_t index);

/// How many all of them may run on together.
unsigned processors_of_all(std::span<const processor_set> of_ranks);

}  // namespace tilewise::backend::group
