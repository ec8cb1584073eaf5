// SPDX-License-Identifier: Apache-2.0
// Random cases against the definition, as many as there is time for.
#pragma once

#include <string>
#include <vector>

namespace tilewise::tests {

/// tilewise-tests --soak DEVICE SEED FIRST COUNT: the cases FIRST, FIRST + 1, ... of a seed, on a device such as
/// "cpu:openmp", or on groups of any number of ranks ("groups"). A case depends on the device, the seed and its number
/// alone, so that a soak is continued with the next number, and a case repeated with its own. Prints what was wrong and
/// "<cases> cases, <found> found": those that were run, which may be fewer than COUNT, since a variant for few types
/// and shapes may find none among many draws. Returns the exit code; throws if none of several was run.
int soak(const std::vector<std::string>& words);

}  // namespace tilewise::tests
