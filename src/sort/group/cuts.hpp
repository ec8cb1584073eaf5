// SPDX-License-Identifier: Apache-2.0
// Finds where the ranks of a group cut their sorted runs.
#pragma once

#include "divide/ranks.hpp"
#include "sort/merge_runs.hpp"
#include "sort/problem.hpp"

namespace tilewise::impl::sort {

/// Elements [at(rank, i), at(rank, i + 1)) of each rank's run belong to part i of the merged runs.
class run_cuts {
 public:
  run_cuts(unsigned ranks, unsigned parts) : parts_(parts), at_(std::size_t{ranks} * (parts + 1), 0) {}

  std::uint64_t at(unsigned rank, unsigned i) const { return at_[std::size_t{rank} * (parts_ + 1) + i]; }
  std::uint64_t& at(unsigned rank, unsigned i) { return at_[std::size_t{rank} * (parts_ + 1) + i]; }
  std::uint64_t length(unsigned rank, unsigned i) const { return at(rank, i + 1) - at(rank, i); }

 private:
  unsigned parts_;
  std::vector<std::uint64_t> at_;
};

/// Cuts the ranks' sorted runs of keys so that part i of their stable merge is [border[i], border[i + 1]). lengths[k]
/// is the length of rank k's run. All ranks must call it together.
run_cuts cut_runs(const divide::rank& r, const registry::problem& p, const backend::memory& run,
                  std::span<const std::uint64_t> lengths, std::span<const std::uint64_t> border);

/// The same for up to 4 runs on CUDA devices, each of which can read all runs in place. `pieces` are the cuts of this
/// rank's part at borders_of_pieces. They count from where the part begins in each run, and leave out the runs of which
/// the part has no element.
struct cut_part {
  run_cuts of_all;
  std::vector<cut> pieces;
};
cut_part cut_runs_in_place(const divide::rank& r, const registry::problem& p, const backend::memory& run,
                           std::span<const std::uint64_t> lengths, std::span<const std::uint64_t> border);

/// Why a member cannot take samples of its run; empty if all can.
std::string cuts_unsupported(const registry::problem& p, const backend::device& group);

}  // namespace tilewise::impl::sort
