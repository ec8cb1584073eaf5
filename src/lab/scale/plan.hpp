// SPDX-License-Identifier: Apache-2.0
// Plans what to measure to see how an algorithm scales: one program with 1, 2, 3, 4, 6, 8, 12 ... threads or ranks, and
// the programs for one processor that it is compared with.
#pragma once

#include "lab/bench/group.hpp"

namespace tilewise::lab {

struct scaling_request {
  std::vector<std::string> algorithms;  // empty: all, or for weak scaling all whose work can grow with p
  /// The CPU with its threads, or a group of equal members: the most processors to measure.
  std::shared_ptr<backend::device> on;
  unsigned threads = 0;  // that the device was opened with; 0: one for each processor
  std::uint64_t n = 0;   // of arrays; N means NxN or NxNxN for matrices. 0: the first usual size larger than all caches
  bool is_weak = false;  // the first size, and with it the work, grows with p
};

/// 1, 2, 3, 4, 6, 8, 12, ... and `most`.
std::vector<unsigned> processor_counts(unsigned most);

/// For strong scaling, one group for each algorithm, whose rows are interleaved. For weak scaling, one group for each
/// p, since each p has another problem. Throws `invalid_argument` for an unknown algorithm, a device that cannot be
/// split, or an algorithm without weak scaling; and `unsupported` if there is only one processor.
std::vector<group> make_scaling_plan(const scaling_request& wanted);

}  // namespace tilewise::lab
