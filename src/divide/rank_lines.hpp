// SPDX-License-Identifier: Apache-2.0
// Computes the rows or columns ("lines") of a matrix on the ranks of a group; each line is a problem of its own. One
// rank computes each line: a row on the rank where it begins, a column on the rank to which its band of columns is
// assigned.
#pragma once

#include "backend/group/matrix.hpp"
#include "divide/ranks.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise::divide {

using registry::lines;

/// The input matrix `from` and the output matrix `to`; their lines may have different lengths.
struct line_problem {
  problem whole;
  axis which;
  matrix_layout from, to;
  /// The same problem for other matrices.
  problem (*of_part)(const problem& whole, const matrix_layout& from, const matrix_layout& to);
};

/// Calls `work` on each rank. But if there are at least two ranks per line and a line's elements are contiguous, all
/// ranks together compute one line after another, each as the problem `of_line`.
void share_lines(const problem& p, const problem& of_line, const lines& from, const lines& to, const bindings& where,
                 backend::queue& group, const std::function<void(const rank&)>& work);

/// Collective: computes all lines. The output may be the input if the algorithm allows it.
void run_lines(const rank& r, const line_problem& p, const bindings& where);

/// The rows that begin on a rank. The rank holds rows [begin, whole) completely. If whole != end, another rank holds
/// the rest of the last row.
struct own_rows {
  std::uint64_t begin, whole, end;

  bool has_cut_row() const { return whole != end; }
};
/// The rows that begin on `rank`, among `rows` rows of `width` bytes.
own_rows rows_that_begin_on(unsigned rank, const backend::group::matrix& of, std::uint64_t rows, std::uint64_t width);

}  // namespace tilewise::divide
