// SPDX-License-Identifier: Apache-2.0
// Measures one group of a plan: verifies each row, times the rows alternately, verifies them again, and makes their
// records.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/verify/verify.hpp"

namespace tilewise::lab {

/// `inputs` comes from make_case of the group's problem. Returns one record for each row, in the rows' order. If a row
/// throws, only its own record fails. If the device throws while it is set up, all rows fail.
std::vector<measured> measure_group(const group& what, const verified_case& inputs, const measuring& how);

}  // namespace tilewise::lab
