// SPDX-License-Identifier: Apache-2.0
// Keeps the processes of an mpirun job in step while they measure: all of them must take the same decisions.
#pragma once

#include "backend/group/mpi_world.hpp"

namespace tilewise::lab {

/// Under mpirun, returns the first rank's `mine` in every process; all processes must call it. Otherwise returns
/// `mine`. Everything that ranks may see differently, such as a time, must go through here before it decides what is
/// done next.
inline double as_first_rank(double mine) {
  if (!backend::group::is_mpi_process()) return mine;
  return backend::group::gathered(backend::group::mpi(), mine).front();
}

}  // namespace tilewise::lab
