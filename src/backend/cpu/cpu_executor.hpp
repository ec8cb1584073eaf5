// Who runs which tile: serial, std::thread, OpenMP and oneTBB behind one function. Parallel pragmas and tbb:: appear in
// the executors and nowhere else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace tilewise::backend::cpu {

/// A team of workers in one programming model.
class executor {
 public:
  virtual ~executor() = default;
  virtual std::string_view name() const = 0;
  /// Calls body(0) ... body(workers - 1), each on a thread of its own, and returns when all have ended. The first
  /// exception of a body is thrown again here.
  virtual void run(unsigned workers, const std::function<void(unsigned)>& body) = 0;
};

/// "serial", "threads", and of this build "openmp" and "tbb".
std::span<const std::string_view> executor_names();
std::unique_ptr<executor> make_executor(std::string_view name, unsigned threads);

}  // namespace tilewise::backend::cpu
