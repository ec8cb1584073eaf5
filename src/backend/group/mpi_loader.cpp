// MPI as a module that is loaded when it is first requested.
#include "backend/group/mpi_world.hpp"

#include <cstdlib>

#include <dlfcn.h>

namespace tilewise::backend::group {

std::optional<unsigned> launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* told = std::getenv(name); told != nullptr) return static_cast<unsigned>(std::atoi(told));
  return std::nullopt;
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
