// SPDX-License-Identifier: Apache-2.0
// Who runs which tile: serial, std::thread, OpenMP and oneTBB behind one function. Parallel pragmas and tbb:: appear in
// the executors and nowhere else.
#pragma once

#include <tilewise/float_mode.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tilewise::backend::cpu {

/// A team of workers in one programming model.
class executor {
 public:
  virtual ~executor() = default;
  virtual std::string_view name() const = 0;
  /// Calls body(0) ... body(workers - 1) and returns when all have finished, ideally each on its own thread and in the
  /// default floating-point mode: a thread of a team has its creator's, and oneTBB gives its threads one of its own. A
  /// thread may also run several in sequence: a body must not wait for another worker's to start. An exception from a
  /// body is rethrown here; then some workers may not have run. May be called from several threads at once and from
  /// within a body.
  void run(unsigned workers, const std::function<void(unsigned)>& body) {
    share(workers, [&body](unsigned worker) {
      const default_float_mode during;
      body(worker);
    });
  }

 private:
  virtual void share(unsigned workers, const std::function<void(unsigned)>& body) = 0;
};

/// All workers on the calling thread.
inline void run_alone(unsigned workers, const std::function<void(unsigned)>& body) {
  for (unsigned worker = 0; worker < workers; ++worker) body(worker);
}

/// "serial", "threads", and where this build has them "openmp" and "tbb".
std::span<const std::string_view> executor_names();
/// Why one of these cannot be created on this machine; empty if it can.
std::string why_no_executor(std::string_view name);
std::unique_ptr<executor> make_executor(std::string_view name, unsigned threads);

// One maker for each programming model.
std::unique_ptr<executor> make_serial_executor(unsigned threads);
std::unique_ptr<executor> make_threads_executor(unsigned threads);
/// The same, whose threads poll longer before they sleep. Each body runs on a thread of its own, and all do at once, so
/// that they may wait for each other; but not where another call of this executor is under way.
std::unique_ptr<executor> make_rank_threads(unsigned ranks);
std::unique_ptr<executor> make_openmp_executor(unsigned threads);
std::unique_ptr<executor> make_tbb_executor(unsigned threads);

/// Why oneTBB's executor cannot be created on this machine; empty if it can.
std::string why_no_tbb_executor();

/// What executor.cpp looks up in the module of oneTBB's executor. The caller owns the executor.
extern "C" [[gnu::visibility("default")]] executor* tilewise_tbb_executor(unsigned threads);

}  // namespace tilewise::backend::cpu
