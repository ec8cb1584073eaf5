// SPDX-License-Identifier: Apache-2.0
// oneTBB's executor, the only content of the module libtilewise-tbb.so.
#include "backend/cpu/executor.hpp"

#include <algorithm>

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace tilewise::backend::cpu {

namespace {

class tbb_executor final : public executor {
 public:
  // oneTBB starts at most one thread per core. Only a setting for the whole process changes that, and a library should
  // not set it. A larger arena would only print a warning.
  explicit tbb_executor(unsigned threads)
      : arena_(std::min(static_cast<int>(threads), tbb::info::default_concurrency())) {}
  std::string_view name() const override { return "tbb"; }
  void share(unsigned workers, const std::function<void(unsigned)>& body) override {
    arena_.execute([&] {
      tbb::task_group tasks;
      for (unsigned worker = 1; worker < workers; ++worker) tasks.run([&body, worker] { body(worker); });
      tasks.run_and_wait([&body] { body(0); });
    });
  }

 private:
  tbb::task_arena arena_;
};

}  // namespace

executor* tilewise_tbb_executor(unsigned threads) { return new tbb_executor(threads); }

}  // namespace tilewise::backend::cpu
