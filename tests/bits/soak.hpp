// SPDX-License-Identifier: Apache-2.0
// Compares random cases with the definition, as many as there is time for.
#pragma once

#include <string>
#include <vector>

namespace tilewise::tests {

/// tilewise-tests --soak DEVICE SEED FIRST COUNT runs the cases FIRST, FIRST + 1, ... of a seed, on a device such as
/// "cpu:openmp", or on groups of any number of ranks ("groups"). A case depends only on the device, the seed and its
/// number, so a soak can be continued with the next number, and a case can be repeated by its own. Prints what was
/// wrong, and "<cases> cases, <found> found". These are the cases that ran; they may be fewer than COUNT, since a
/// variant with few types and shapes may find none among many draws. Returns the exit code. Throws if none of several
/// cases ran.
int soak(const std::vector<std::string>& words);

}  // namespace tilewise::tests
