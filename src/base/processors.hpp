// SPDX-License-Identifier: Apache-2.0
// Which processors a process may run on, as the system says.
#pragma once

#include <bitset>
#include <cstddef>

#include <sched.h>

namespace tilewise::base {

using processor_set = std::bitset<CPU_SETSIZE>;

/// Those of a process, by default this one; empty where the system does not say.
inline processor_set processors_of_process(pid_t which = 0) {
  processor_set all;
  cpu_set_t allowed;
  if (sched_getaffinity(which, sizeof allowed, &allowed) != 0) return all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = CPU_ISSET(i, &allowed);
  return all;
}

}  // namespace tilewise::base
