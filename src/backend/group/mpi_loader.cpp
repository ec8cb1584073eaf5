// MPI as a module that is loaded when it is first requested.
#include "backend/group/mpi_world.hpp"
#include "base/lasting.hpp"

#include <cstdlib>

#include <dlfcn.h>

namespace tilewise::backend::group {

namespace {

struct module {
  decltype(&tilewise_mpi_world) make = nullptr;
  std::string why_none;
};

module load() {
  module result;
  // Looked for next to this library first, as executor_loader.cpp does; never closed, since MPI ends with the process.
  void* const library = dlmopen(LM_ID_BASE, TILEWISE_MPI_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) result.make = reinterpret_cast<decltype(result.make)>(dlsym(library, "tilewise_mpi_world"));
  if (result.make == nullptr)
    result.why_none = "ranks of MPI need " TILEWISE_MPI_MODULE
                      ", a part of Tilewise, and Open MPI, such as Debian's libopenmpi3: " +
                      std::string(dlerror());
  return result;
}

const module& loaded() {
  static const module& once = base::lasting(load);
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
    if (loaded().make == nullptr) throw error(errc::unsupported, loaded().why_none);
    return loaded().make();
  }();
  return *once;
}

}  // namespace tilewise::backend::group
