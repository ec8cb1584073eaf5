// SPDX-License-Identifier: Apache-2.0
// One record of both visits to a row.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"

namespace tilewise::lab {

/// The group for its last visit, without the rows that a second visit would say nothing of: those that have no time,
/// and those one call of which outlasts all samples of a row.
group to_visit_again(group what, std::span<const measured> found, const stop_rule& both);

/// Of the group's rows: what each found at its first visit joins what it found at its last. A row that was wrong or
/// failed at either has no time.
void join(const group& what, std::vector<measured> first, std::vector<measured>& last);

}  // namespace tilewise::lab
