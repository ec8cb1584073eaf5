// SPDX-License-Identifier: Apache-2.0
// The cases of a file of records. Several runs of one build are one measurement: what moves all samples of a run, such
// as where a process's memory lies or what the machine did meanwhile, shows only between runs.
#pragma once

#include "report/model.hpp"

#include <deque>
#include <set>
#include <string_view>
#include <vector>

namespace tilewise::report {

struct measured_cases {
  std::vector<const row*> rows;                  // one of each case, in the order of their first records
  std::size_t most_runs = 1;                     // that one of them was joined from
  std::size_t replaced = 0;                      // records that a later one stands for
  std::set<std::string_view> why_replaced = {};  // of a record and that later one: "they are of different builds"
  std::deque<row> joined = {};                   // what `rows` point to beside the table
};

/// The same bits are due of both where the order, the input and what is claimed are the same.
bool digests_differ(const row& a, const row& b);

/// Of the records of a case the last one counts, with those before it that are of the same clean build on the same
/// hardware. If one of these is wrong, or else failed, that one stands for all: a later run that went well does not
/// undo it. If not, those with times are joined: then the median is that of the runs', the interval reaches to the ends
/// of all, `visits_effect` is at least the gap between the runs, and runs with other bits are wrong. Points into the
/// table.
measured_cases cases_of(const row_table& rows);

}  // namespace tilewise::report
