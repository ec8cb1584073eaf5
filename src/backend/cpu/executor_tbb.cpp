#include "backend/cpu/executors.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace tilewise::backend::cpu {

namespace {

class tbb_executor final : public executor {
 public:
  explicit tbb_executor(unsigned threads)
      : limit_(tbb::global_control::max_allowed_parallelism, threads), arena_(static_cast<int>(threads)) {}
  std::string_view name() const override { return "tbb"; }
  void run(unsigned workers, const std::function<void(unsigned)>& body) override {
    arena_.execute([&] {
      tbb::task_group tasks;
      for (unsigned worker = 1; worker < workers; ++worker) tasks.run([&body, worker] { body(worker); });
      tasks.run_and_wait([&body] { body(0); });
    });
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

}  // namespace

std::unique_ptr<executor> make_tbb_executor(unsigned threads) { return std::make_unique<tbb_executor>(threads); }

}  // namespace tilewise::backend::cpu
