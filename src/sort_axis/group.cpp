// SPDX-License-Identifier: Apache-2.0
// What:   sort_axis on the ranks of a group.
// Order:  that of the members' variants: one rank sorts each line. A few long lines are sorts of the group.
// Shape:  rows: the rank on which a row begins sorts it. If a border cuts the row, the rank fetches the rest and sends
//         it back sorted. Columns lie on all ranks: each rank fetches a band of columns, sorts it, and sends every rank
//         its rows of the band.
// Limits: those of the members' variants; memory on each rank for its band of columns, besides its part.
// Twins:  scan_axis/group.cpp; sort/group/variants.cpp, where lines are few.
#include "divide/rank_lines.hpp"
#include "sort_axis/problem.hpp"

namespace tilewise::impl::sort_axis {

namespace {

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  const divide::line_problem lines{p, axis_of(p), layout_of_input(p), layout_of_output(p), of_matrices};
  divide::share_lines(p, sort_of_line(p), lines_of_input(p), lines_of_output(p), where, queue,
                      [&](const divide::rank& r) { divide::run_lines(r, lines, where); });
}

}  // namespace

std::vector<registry::variant> sort_axis_group_variants() {
  return {{.algorithm = "sort_axis",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source = "rows where they begin, or bands of columns, by each rank's own variant; few long rows by all",
           .unsupported = divide::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::sort_axis
