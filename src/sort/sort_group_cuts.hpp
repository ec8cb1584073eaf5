// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a group cut their sorted runs.
#pragma once

#include "registry/ranks.hpp"
#include "sort/sort_problem.hpp"

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

/// Together: cuts the ranks' sorted runs of keys, so that part i of their stable merge is [border[i], border[i + 1]).
/// `n` is the length of this rank's run.
run_cuts cut_runs(const registry::rank& r, const registry::problem& p, const backend::memory& run, std::uint64_t n,
                  std::span<const std::uint64_t> border);

/// Why a member cannot look at its run.
std::string cuts_unsupported(const registry::problem& p, const backend::device& group);

}  // namespace tilewise::impl::sort
