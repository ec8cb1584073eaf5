// SPDX-License-Identifier: Apache-2.0
// oneTBB's executor as a module that is loaded when it is first requested.
#include "backend/cpu/executors.hpp"
#include "backend/cpu/thread_limit.hpp"
#include "base/lasting.hpp"
#include "base/module.hpp"

#include <tilewise/error.hpp>

#include <algorithm>

namespace tilewise::backend::cpu {

namespace {

const base::module_function& loaded() {
  static const base::module_function& once = base::lasting([] {
    return base::find_in_module(TILEWISE_TBB_MODULE, "tilewise_tbb_executor", "cpu:tbb needs",
                                "oneTBB, such as Debian's libtbb12");
  });
  return once;
}

}  // namespace

std::string why_no_tbb_executor() { return loaded().why_none; }

std::unique_ptr<executor> make_tbb_executor(unsigned threads) {
  require_threads(std::min(threads, std::thread::hardware_concurrency()));  // oneTBB starts no more
  return std::unique_ptr<executor>(loaded().as<decltype(tilewise_tbb_executor)>()(threads));
}

}  // namespace tilewise::backend::cpu
