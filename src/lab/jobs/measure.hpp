// SPDX-License-Identifier: Apache-2.0
// Measures the rows of one group as whole jobs.
#pragma once

#include "lab/bench/measured.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/verify/verify.hpp"

namespace tilewise::lab {

/// Measures each row from host to host or from file to file, as `how.what` says. Rows are checked, timed in rounds, and
/// checked again. `end_to_end` is the time of a job; jobs on files also have `phases`.
std::vector<measured> measure_jobs(const group& what, const verified_case& inputs, const measuring& how);

}  // namespace tilewise::lab
