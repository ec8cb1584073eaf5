// SPDX-License-Identifier: Apache-2.0
// In what order the groups of a plan are measured. Each is visited twice, half a minute apart and with memory of its
// own: what lasts for a while, such as a neighbour on the machine or where the operands lie, moves all samples of a
// visit alike, and only another visit shows it.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measuring.hpp"

#include <span>
#include <vector>

namespace tilewise::lab {

constexpr double visits_of_each = 2;

struct visit {
  std::size_t group;  // of the plan
  bool is_last;       // its second
  double cost_ns;     // what it takes at most
};

/// Stretches of the plan, each from its begin to its end and then once more; whoever ends a run loses one stretch at
/// most. `apart`: each visit in a process of its own, which makes all inputs anew.
std::vector<visit> visits_of(std::span<const group> plan, const measuring& how, bool apart = false);

/// What one visit takes of the time that both have.
stop_rule of_one_visit(stop_rule both);

}  // namespace tilewise::lab
