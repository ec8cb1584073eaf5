// SPDX-License-Identifier: Apache-2.0
// The cases of a file of records. Several runs of one build are one measurement: what moves all samples of a run, such
// as where a process's memory lies or what the machine did meanwhile, shows only between runs.
#pragma once

#include "report/model.hpp"

#include <deque>
#include <vector>

namespace tilewise::report {

struct measured_cases {
  std::vector<const row*> rows;  // one of each case, in the order of their last records
  std::size_t most_runs = 1;     // that one of them was joined from
  std::size_t replaced = 0;      // records that a later one stands for
  std::deque<row> joined = {};   // what `rows` point to beside the table
};

/// Of the records of a case the last one counts, joined with those before it that have times of the same clean build on
/// the same hardware. Then the median is that of the runs', the interval reaches to the ends of all, and
/// `visits_effect` is at least the gap between the runs. Points into the table.
measured_cases cases_of(const row_table& rows);

}  // namespace tilewise::report
