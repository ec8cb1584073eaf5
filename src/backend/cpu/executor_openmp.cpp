// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/executor.hpp"
#include "backend/cpu/thread_limit.hpp"
#include "backend/fork.hpp"

#include <algorithm>
#include <exception>

#include <omp.h>

namespace tilewise::backend::cpu {

namespace {

/// Checks that libgomp can start its threads. It ends the process if it cannot, and in a forked child it waits for ever
/// for the parent's threads. Its threads belong to the calling thread and wait for that thread's next call.
void require_team(unsigned workers) {
  static process_bound first_team;
  if (!first_team.is_here()) throw error(errc::device_lost, used_before_fork("cpu:openmp"));
  thread_local unsigned largest = 1;
  const unsigned team = std::min(workers, static_cast<unsigned>(omp_get_thread_limit()));
  if (team <= largest || omp_in_parallel() != 0) return;
  require_threads(team);
  largest = team;
}

class openmp_executor final : public executor {
 public:
  std::string_view name() const override { return "openmp"; }
  void share(unsigned workers, const std::function<void(unsigned)>& body) override {
    require_team(workers);
    std::exception_ptr failure;
#pragma omp parallel num_threads(static_cast <int>(workers)) default(shared)
    {
      // A smaller team than requested (OMP_THREAD_LIMIT, nesting) still runs every worker.
      for (unsigned worker = static_cast<unsigned>(omp_get_thread_num()); worker < workers;
           worker += static_cast<unsigned>(omp_get_num_threads())) {
        try {
          body(worker);
        } catch (...) {
#pragma omp critical(tilewise_failure)
          failure = std::current_exception();
        }
      }
    }
    if (failure) std::rethrow_exception(failure);
  }
};

}  // namespace

std::unique_ptr<executor> make_openmp_executor(unsigned) { return std::make_unique<openmp_executor>(); }

}  // namespace tilewise::backend::cpu
