// SPDX-License-Identifier: Apache-2.0
// MPI as a module that is loaded when it is first requested.
#include "backend/group/mpi_world.hpp"
#include "base/lasting.hpp"
#include "base/module.hpp"

#include <cstdlib>

namespace tilewise::backend::group {

namespace {

const base::module_function& loaded() {
  static const base::module_function& once = base::lasting([] {
    return base::find_in_module(TILEWISE_MPI_MODULE, "tilewise_mpi_world", "ranks of MPI need",
                                "Open MPI, such as Debian's libopenmpi3");
  });
  return once;
}

}  // namespace

std::optional<unsigned> launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* told = std::getenv(name); told != nullptr) return static_cast<unsigned>(std::atoi(told));
  return std::nullopt;
}

std::string why_no_mpi() { return loaded().why_none; }

world& mpi() {
  static world* const once = [] {
    if (loaded().found == nullptr) throw error(errc::unsupported, loaded().why_none);
    return loaded().as<decltype(tilewise_mpi_world)>()();
  }();
  return *once;
}

}  // namespace tilewise::backend::group
