// SPDX-License-Identifier: Apache-2.0
// How the processes of one host share its processors: mpirun may have bound each to some of them.
#pragma once

#include "base/processors.hpp"

#include <span>

namespace tilewise::backend::group {

using base::processor_set;

/// How many rank `index` has for itself where ranks that may run on the same ones share them equally; at least 1.
unsigned processors_of(std::span<const processor_set> of_ranks, std::size_t index);

/// How many all of them may run on together.
unsigned processors_of_all(std::span<const processor_set> of_ranks);

}  // namespace tilewise::backend::group
