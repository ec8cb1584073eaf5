// SPDX-License-Identifier: Apache-2.0
// How our code stands for each algorithm on each processor: what the page's first screen and the README show.
#pragma once

#include "report/standing/standing.hpp"

namespace tilewise::report {

struct matrix_cell {
  const panel* of;
  const board* on;
  standing what;
  standing smaller = {};     // where `what` is in doubt, if a smaller problem can be trusted
  std::string column = {};   // "cuda:0 · NVIDIA H200"; processors of one kind and name share it
  std::string machine = {};  // empty unless several have such a processor
  bool is_of_other = false;  // not of the machine's main problem

  double time() const { return what.ours->kernel->median; }
};

/// "f32 op=sum"
std::string words_of(const panel& p);

/// Of each algorithm on each machine its main problem, the largest first, and last what was measured for how a program
/// scales; of whole jobs only where no kernels were measured.
std::vector<const panel*> matrix_panels(const model& m);
/// The algorithms' other problems, for processors that these alone were measured on.
std::vector<const panel*> other_panels(const model& m, const std::vector<const panel*>& main);
/// Where one of our variants was measured.
std::vector<matrix_cell> cells_of(const std::vector<const panel*>& panels,
                                  const std::vector<const panel*>& others = {});

struct matrix {
  struct line {
    std::string algorithm;
    std::string problem;                    // "f32 op=sum, n = 1,024", the largest
    std::string machine;                    // empty where its cells tell
    const matrix_cell* fastest = nullptr;   // of that size, whether its time can be trusted or not
    std::vector<const matrix_cell*> cells;  // one for each column; null: not measured
    std::vector<std::string> apart;         // how a cell's problem differs from the line's: "at n = 512"

    std::string words() const { return problem + (machine.empty() ? "" : ", on " + machine); }
  };
  std::vector<std::string> columns;
  std::vector<line> lines;
  std::size_t unsaid = 0;  // columns that are left out

  std::vector<matrix_cell> shown() const;
};

/// The processor that is the fastest of most lines comes first; of equals, that which most was measured on. Processors
/// of one kind and name are one column, wherever no problem was measured on two of them. The same problem on several
/// machines is one line, as long as they share no column. What was measured for how a program scales has no line of its
/// own beside others of its algorithm. A column that none of an algorithm's lines has a cell in shows the largest of
/// its other problems there, in the first of them.
matrix make_matrix(const std::vector<matrix_cell>& cells);

/// "80 % of copy", or that nothing bounds it.
std::string share_words(const row& r);
/// "memory-bound, 87 % of copy"; without the bound where it is far away, or may be none.
std::string bound_and_share(const row& r);

}  // namespace tilewise::report
