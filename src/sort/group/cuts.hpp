// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a group cut their sorted runs.
#pragma once

#include "registry/ranks.hpp"
#include "sort/merge_runs.hpp"
#include "sort/problem.hpp"

namespace tilewise::impl::sort {

/// Of each rank's run, the elements [at(rank, i), at(rank, i + 1)) belong to part i of the merged runs.
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

/// Together: cuts the ranks' sorted runs of keys, of the given lengths, so that part i of their stable merge is
/// [border[i], border[i + 1]).
run_cuts cut_runs(const registry::rank& r, const registry::problem& p, const backend::memory& run,
                  std::span<const std::uint64_t> lengths, std::span<const std::uint64_t> border);

/// The same of up to 4 runs that all ranks' devices, which are CUDA's, read where they lie. Of this rank's part also
/// the cuts at borders_of_pieces, from the begin of the part in each run, without the runs that it has nothing of.
struct cut_part {
  run_cuts of_all;
  std::vector<cut> pieces;
};
cut_part cut_runs_in_place(const registry::rank& r, const registry::problem& p, const backend::memory& run,
                           std::span<const std::uint64_t> lengths, std::span<const std::uint64_t> border);

/// Why a member cannot look at its run.
std::string cuts_unsupported(const registry::problem& p, const backend::device& group);

}  // namespace tilewise::impl::sort
