// SPDX-License-Identifier: Apache-2.0
// What to measure to see what bounds each algorithm on a device: what `auto` would run there, and the limits.
#pragma once

#include "lab/bench/group.hpp"

namespace tilewise::lab {

/// A group for each algorithm that the device computes, with the type of a first look, at this size (N means NxN or
/// NxNxN for matrices), or at the largest of a first look if it is 0. Throws `invalid_argument` for a size at which no
/// algorithm has an answer.
std::vector<group> make_roofline_plan(const std::shared_ptr<backend::device>& on, std::uint64_t n);

}  // namespace tilewise::lab
