// oneTBB's executor as a module that is loaded when it is first requested.
#include "backend/cpu/cpu_thread_limit.hpp"
#include "backend/cpu/executors.hpp"
#include "base/lasting.hpp"

#include <tilewise/error.hpp>

#include <algorithm>

#include <dlfcn.h>

namespace tilewise::backend::cpu {

namespace {

struct module {
  decltype(&tilewise_tbb_executor) make = nullptr;
  std::string why_none;
};

module load() {
  module result;
  // Looked for next to this library first, where the sanitizers' dlopen would not look; hence the other call. Never
  // closed, since its executors live on.
  void* const library = dlmopen(LM_ID_BASE, TILEWISE_TBB_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr)
    result.make = reinterpret_cast<decltype(result.make)>(dlsym(library, "tilewise_tbb_executor"));
  if (result.make == nullptr)
    result.why_none = "cpu:tbb needs " TILEWISE_TBB_MODULE
                      ", a part of Tilewise, and oneTBB, such as Debian's libtbb12: " +
                      std::string(dlerror());
  return result;
}

const module& loaded() {
  static const module& once = base::lasting(load);
  return once;
}

}  // namespace

std::string why_no_tbb_executor() { return loaded().why_none; }

std::unique_ptr<executor> make_tbb_executor(unsigned threads) {
  require_threads(std::min(threads, std::thread::hardware_concurrency()));  // oneTBB starts no more
  return std::unique_ptr<executor>(loaded().make(threads));
}

}  // namespace tilewise::backend::cpu
