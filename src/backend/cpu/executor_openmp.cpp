#include "backend/cpu/executors.hpp"

#include <exception>

#include <omp.h>

namespace tilewise::backend::cpu {

namespace {

class openmp_executor final : public executor {
 public:
  std::string_view name() const override { return "openmp"; }
  void run(unsigned workers, const std::function<void(unsigned)>& body) override {
    std::exception_ptr failure;
#pragma omp parallel num_threads(static_cast <int>(workers)) default(shared)
    {
      // A smaller team than asked for (OMP_THREAD_LIMIT, nesting) still runs every worker.
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
