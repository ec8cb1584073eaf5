// SPDX-License-Identifier: Apache-2.0
// Measures the roofs of a device apart from any problem: how fast it reads working sets of all sizes, from which the
// levels of its memory are found, how fast it multiplies and adds on each type, and how long a kernel takes that does
// nothing. And what to measure to see what bounds each algorithm there: what `auto` would run, and the limits.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/time/rounds.hpp"
#include "record/record.hpp"

namespace tilewise::lab {

/// The working sets that are read: from the smallest that keeps the device busy to four times its last-level cache,
/// four for each doubling, as much as a quarter of its memory holds. What a GPU says of its caches need not be the
/// last level: there it is four times the largest cache that a GPU has, 256 MiB.
std::vector<std::uint64_t> working_sets(const device_info& on, std::uint64_t least);

/// A record for each roof, not yet signed; none where the backend has no roofs (backend/roofs.hpp). Takes a few seconds
/// for each device.
std::vector<record::result> measure_roofs(backend::device& on, const round_hooks& hooks);
/// The launch alone, which takes a tenth of a second; none where a call starts nothing.
std::vector<record::result> measure_launch(backend::device& on, const round_hooks& hooks);

/// A group for each algorithm that the device computes, with the type of a first look, at this size (N means NxN or
/// NxNxN for matrices), or at the largest of a first look if it is 0. Throws `invalid_argument` for a size at which no
/// algorithm has an answer.
std::vector<group> make_roofline_plan(const std::shared_ptr<backend::device>& on, std::uint64_t n);

}  // namespace tilewise::lab
