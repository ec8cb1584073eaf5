// SPDX-License-Identifier: Apache-2.0
// Loads the MPI module on first use.
#include "backend/group/mpi_launch.hpp"
#include "backend/group/mpi_world.hpp"
#include "base/lasting.hpp"
#include "base/module.hpp"

#include <tilewise/float_mode.hpp>

#include <atomic>

namespace tilewise::backend::group {

namespace {

const base::module_function& loaded() {
  static const base::module_function& once = base::lasting([] {
    return base::find_in_module(TILEWISE_MPI_MODULE, "tilewise_mpi_world", "ranks of MPI need",
                                "Open MPI, such as Debian's libopenmpi3");
  });
  return once;
}

std::atomic<world*> started{nullptr};

world* start() {
  const default_float_mode during;  // libraries that MPI loads may change it
  if (loaded().found == nullptr) throw error(errc::unsupported, loaded().why_none);
  world* const ranks = loaded().as<decltype(tilewise_mpi_world)>()();
  if (ranks == nullptr)
    throw error(
        errc::unsupported,
        "there are variables of an mpirun that has ended, or that has started a parent of this process, and MPI "
        "would end the process for them; remove them first, in bash by `unset ${!PMIX_*} ${!OMPI_*}`");
  started = ranks;
  return ranks;
}

}  // namespace

std::optional<unsigned> launched_rank() {
  static const std::optional<unsigned> told = [] {
    const std::optional<unsigned> rank = rank_by_launcher(), ranks = ranks_by_pmi();
    // Under the launcher of another MPI, our MPI would see only one rank in each process.
    const bool is_denied = rank && ranks && (!why_no_mpi().empty() || mpi().size() != *ranks);
    return is_denied ? std::nullopt : rank;
  }();
  const world* const ranks = started;
  return told && ranks != nullptr ? ranks->rank() : told;
}

std::string why_no_mpi() { return loaded().why_none; }

world& mpi() {
  static world* const once = start();
  return *once;
}

}  // namespace tilewise::backend::group
