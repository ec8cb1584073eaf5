// SPDX-License-Identifier: Apache-2.0
// The host's name, the processors that a process may run on, and how the processes of one host share them. mpirun may
// have bound each process to some processors.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <span>
#include <string>

#include <sched.h>
#include <unistd.h>

namespace tilewise::base {

inline std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "a host without a name";
}

using processor_set = std::bitset<CPU_SETSIZE>;

/// The processors that a process, by default this one, may run on; empty if the system does not report them.
inline processor_set processors_of_process(pid_t which = 0) {
  processor_set all;
  cpu_set_t allowed;
  if (sched_getaffinity(which, sizeof allowed, &allowed) != 0) return all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = CPU_ISSET(i, &allowed);
  return all;
}

/// The number of processors for rank `index`, at least 1, if ranks that may run on the same processor share it equally.
inline unsigned processors_of(std::span<const processor_set> of_ranks, std::size_t index) {
  constexpr double rounding = 1e-6;  // so that three thirds give one
  double share = rounding;
  for (std::size_t i = 0; i < processor_set().size(); ++i)
    if (of_ranks[index][i])
      share += 1.0 / static_cast<double>(
                         std::count_if(of_ranks.begin(), of_ranks.end(), [i](const processor_set& s) { return s[i]; }));
  return std::max(1u, static_cast<unsigned>(share));
}

/// The number of processors that at least one of the ranks may run on.
inline unsigned processors_of_all(std::span<const processor_set> of_ranks) {
  processor_set all;
  for (const processor_set& one : of_ranks) all |= one;
  return static_cast<unsigned>(all.count());
}

}  // namespace tilewise::base
