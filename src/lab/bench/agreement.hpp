// SPDX-License-Identifier: Apache-2.0
// Several processes of mpirun measure together only if each does what the others do.
#pragma once

#include "backend/group/mpi_world.hpp"

namespace tilewise::lab {

/// In a process of mpirun, together: the first rank's. In any other the value itself. All that decides what is done
/// next and that ranks may see differently, such as times, goes through here.
inline double as_first_rank(double mine) {
  if (!backend::group::is_mpi_process()) return mine;
  return backend::group::gathered(backend::group::mpi(), mine).front();
}

}  // namespace tilewise::lab
