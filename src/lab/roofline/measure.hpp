// SPDX-License-Identifier: Apache-2.0
// Measures the roofs of a device apart from any problem: how fast it reads working sets of all sizes, which shows the
// levels of its memory; how fast it multiplies and adds on each type; and how long an empty kernel takes. Also plans
// what to measure to see what bounds each algorithm on a device: the variant that `auto` would run, and the limits.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/time/rounds.hpp"
#include "record/record.hpp"

namespace tilewise::lab {

/// The working sets to read, four for each doubling: from the smallest that keeps the device busy to four times its
/// last-level cache, and at most a quarter of its memory. The cache that a GPU reports need not be its last level, so
/// on a GPU the largest cache of any GPU counts, 256 MiB.
std::vector<std::uint64_t> working_sets(const device_info& on, std::uint64_t least);

/// One record for each roof, not yet signed; none if the backend has no roofs (backend/roofs.hpp). Takes a few seconds
/// for each device.
std::vector<record::result> measure_roofs(backend::device& on, const round_hooks& hooks);
/// Measures the launch of a kernel alone, in a tenth of a second. No record if the device launches nothing.
std::vector<record::result> measure_launch(backend::device& on, const round_hooks& hooks);

/// One group for each algorithm that the device computes, with the type that a first look uses. The size is `n` (NxN or
/// NxNxN for matrices), or the largest of a first look if `n` is 0. Throws `invalid_argument` if no algorithm has an
/// answer at this size.
std::vector<group> make_roofline_plan(const std::shared_ptr<backend::device>& on, std::uint64_t n);

}  // namespace tilewise::lab
