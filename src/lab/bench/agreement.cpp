// SPDX-License-Identifier: Apache-2.0
#include "lab/bench/agreement.hpp"

#include "backend/group/mpi_world.hpp"

namespace tilewise::lab {

double as_first_rank(double mine) {
  if (!backend::group::is_mpi_process()) return mine;
  return backend::group::gathered(backend::group::mpi(), mine).front();
}

}  // namespace tilewise::lab
