// SPDX-License-Identifier: Apache-2.0
// The rows or columns of a matrix, each a problem of its own, on the ranks of a group: every line is computed by one
// rank, from the rows that begin there, or from a band of columns.
#pragma once

#include "backend/group/matrix.hpp"
#include "registry/matrix_shape.hpp"
#include "registry/ranks.hpp"

namespace tilewise::registry {

/// The matrix that is read and the one that is written, in which a line may have another length.
struct line_problem {
  problem whole;
  axis which;
  matrix_layout from, to;
  /// The same of other matrices.
  problem (*of_part)(const problem& whole, const matrix_layout& from, const matrix_layout& to);
};

/// Calls `work` on each rank; or where there are at least two ranks for each line, whose elements lie side by side, all
/// ranks share one line after another, each a problem `of_line` of its own.
void share_lines(const problem& p, const problem& of_line, const lines& from, const lines& to, const bindings& where,
                 backend::queue& group, const std::function<void(const rank&)>& work);

/// Together: computes all lines. The output may be the input if the algorithm allows it.
void run_lines(const rank& r, const line_problem& p, const bindings& where);

/// The rows that begin on a rank. It has those before `whole` from end to end; of the one after them, if there is one,
/// another rank has the rest.
struct own_rows {
  std::uint64_t begin, whole, end;

  bool has_cut_row() const { return whole != end; }
};
/// Of `rows` rows of `width` bytes, those of one rank.
own_rows rows_that_begin_on(unsigned rank, const backend::group::matrix& of, std::uint64_t rows, std::uint64_t width);

}  // namespace tilewise::registry
