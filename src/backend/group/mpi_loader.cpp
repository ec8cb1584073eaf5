// MPI as a module that is loaded when it is first requested.
#include "backend/group/mpi_world.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <dlfcn.h>

namespace tilewise::backend::group {

bool is_mpi_process() {
  constexpr std::array set_by_launchers{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  return std::any_of(set_by_launchers.begin(), set_by_launchers.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

world& mpi() {
  static world* const once = [] {
    // Looked for next to this library first, as executor_loader.cpp does; never closed, since MPI ends with the
    // process.
    void* const library = dlmopen(LM_ID_BASE, TILEWISE_MPI_MODULE, RTLD_NOW | RTLD_LOCAL);
    void* const make = library == nullptr ? nullptr : dlsym(library, "tilewise_mpi_world");
    if (make == nullptr)
      throw error(errc::unsupported, "ranks of MPI need " TILEWISE_MPI_MODULE
                                     ", a part of Tilewise, and Open MPI, such as Debian's libopenmpi3: " +
                                         std::string(dlerror()));
    return reinterpret_cast<decltype(&tilewise_mpi_world)>(make)();
  }();
  return *once;
}

}  // namespace tilewise::backend::group
