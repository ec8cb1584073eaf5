// SPDX-License-Identifier: Apache-2.0
// How our code compares on each processor, for each algorithm: the matrix on the page's first screen and in the README.
#pragma once

#include "report/standing/standing.hpp"

namespace tilewise::report {

struct matrix_cell {
  const panel* of;
  const board* on;
  standing what;
  standing smaller = {};     // a smaller problem that can be trusted, if `what` is in doubt
  std::string column = {};   // "cuda:0 · NVIDIA H200"; equal processors share a column
  std::string machine = {};  // empty unless several machines have such a processor
  bool is_of_other = false;  // not from the machine's main problem

  double time() const { return what.ours->kernel->median; }
};

/// "f32 op=sum"
std::string words_of(const panel& p);

/// The main problem of each algorithm on each machine: largest first, and scaling measurements last. Problems of whole
/// jobs only if no kernels were measured.
std::vector<const panel*> matrix_panels(const model& m);
/// The algorithms' other problems, for processors on which only these were measured.
std::vector<const panel*> other_panels(const model& m, const std::vector<const panel*>& main);
/// The cells of all processors on which one of our variants was measured.
std::vector<matrix_cell> cells_of(const std::vector<const panel*>& panels,
                                  const std::vector<const panel*>& others = {});

struct matrix {
  struct line {
    std::string algorithm;
    std::string problem;                    // the largest: "f32 op=sum, n = 1,024"
    std::string machine;                    // empty if the cells name it
    const matrix_cell* fastest = nullptr;   // at that size, even if its time cannot be trusted
    std::vector<const matrix_cell*> cells;  // one for each column; null: not measured
    std::vector<std::string> apart;         // how a cell's problem differs from the line's: "at n = 512"

    std::string words() const { return problem + (machine.empty() ? "" : ", on " + machine); }
  };
  std::vector<std::string> columns;
  std::vector<line> lines;
  std::size_t unsaid = 0;  // columns that were left out

  std::vector<matrix_cell> shown() const;
};

/// Arranges the cells. Columns: the processor that is the fastest in most lines comes first; of equals, the one with
/// most cells. Processors of one kind and name share a column, unless one problem was measured on two of them. Lines:
/// the same problem on several machines is one line, as long as no two of its cells need the same column. Scaling
/// measurements have no line of their own if their algorithm has other lines. If an algorithm has no cell in a column,
/// its first line shows there the largest of its other problems.
matrix make_matrix(const std::vector<matrix_cell>& cells);

/// "80 % of copy", or that there is no known limit.
std::string share_words(const row& r);
/// "memory-bound, 87 % of copy"; without the bound if it is far away or uncertain.
std::string bound_and_share(const row& r);

}  // namespace tilewise::report
