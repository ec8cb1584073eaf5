// SPDX-License-Identifier: Apache-2.0
// One group of a plan: verifies each row, times them alternately, verifies again, and makes their records.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/verify/verify.hpp"

namespace tilewise::lab {

/// `inputs` is make_case of the group's problem. One record a row, in the rows' order. What a row throws is its own
/// record's failure; what the device throws while it is set up is that of all rows.
std::vector<measured> measure_group(const group& what, const verified_case& inputs, const measuring& how);

}  // namespace tilewise::lab
