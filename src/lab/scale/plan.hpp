// SPDX-License-Identifier: Apache-2.0
// What to measure to see how an algorithm scales: the same program with 1, 2, 3, 4, 6, 8, 12 ... threads or ranks, and
// the programs for one that it is held against.
#pragma once

#include "lab/bench/group.hpp"

namespace tilewise::lab {

struct scaling_request {
  std::vector<std::string> algorithms;  // none: all, or all whose work can grow with p
  /// Of the CPU with its threads, or a group of equal members: the most to measure.
  std::shared_ptr<backend::device> on;
  unsigned threads = 0;  // that it was opened with; 0: one for each processor
  std::uint64_t n = 0;   // of arrays; N means NxN or NxNxN for matrices. 0: the first usual size that no cache holds
  bool is_weak = false;  // the first size, and with it the work, is p times as large
};

/// 1, 2, 3, 4, 6, 8, 12, ... and `most`.
std::vector<unsigned> processor_counts(unsigned most);

/// Strong scaling is one group for each algorithm, whose rows alternate. Weak scaling is one for each p, since each has
/// another problem. Throws `invalid_argument` for an unknown algorithm, a device that cannot be split, and an
/// algorithm without weak scaling, and `unsupported` where there is one processor only.
std::vector<group> make_scaling_plan(const scaling_request& wanted);

}  // namespace tilewise::lab
