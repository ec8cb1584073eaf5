// SPDX-License-Identifier: Apache-2.0
#include "tool/ranks/voice.hpp"

#include "backend/group/mpi_world.hpp"
#include "base/host.hpp"

#include <chrono>
#include <thread>

namespace tilewise::cli {

namespace {

/// Without MPI each process prints its own failure, which is that MPI cannot be loaded.
bool can_join_others() { return backend::group::is_mpi_process() && backend::group::why_no_mpi().empty(); }

/// If the first rank fails too, it alone prints the failure, and ends this process.
void wait_for_first_rank() {
  using std::chrono::milliseconds;
  constexpr milliseconds step(50), patience(3000), end_by_mpirun(10000);
  backend::group::world& ranks = backend::group::mpi();
  for (milliseconds waited(0); waited < patience && !ranks.first_rank_has_failed(); waited += step)
    std::this_thread::sleep_for(step);
  if (ranks.first_rank_has_failed()) std::this_thread::sleep_for(end_by_mpirun);
}

}  // namespace

bool is_first_rank() { return backend::group::launched_rank().value_or(0) == 0; }

void require_one_process(std::string_view what) {
  if (backend::group::is_mpi_process())
    throw error(errc::unsupported, std::string(what) +
                                       " measures in one process; start it without mpirun, where a group such as "
                                       "--device 2*cpu:serial has ranks too");
}

std::string rank_in_words() {
  if (is_first_rank() || !can_join_others()) return "";
  wait_for_first_rank();
  return "rank " + std::to_string(*backend::group::launched_rank()) + " on " + base::host_name() + ": ";
}

void end_all_ranks(exit_code code) {
  if (can_join_others()) backend::group::mpi().abort(static_cast<int>(code));
}

}  // namespace tilewise::cli
