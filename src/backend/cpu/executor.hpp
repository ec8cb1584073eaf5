// SPDX-License-Identifier: Apache-2.0
// Executors decide which thread runs which tile: serial, std::thread, OpenMP and oneTBB behind one interface. Parallel
// pragmas and tbb:: appear only in the executors.
#pragma once

#include <tilewise/float_mode.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tilewise::backend::cpu {

/// A team of workers that uses one programming model.
class executor {
 public:
  virtual ~executor() = default;
  virtual std::string_view name() const = 0;
  /// Calls body(0) ... body(workers - 1), if possible each on its own thread, and returns when all have finished. A
  /// thread may run several bodies in sequence, so a body must not wait for another to start. An exception from a body
  /// is rethrown here; then some bodies may not have run. May be called from several threads at once and from within a
  /// body. Sets the default floating-point mode for each body: a team's thread has its creator's mode, and oneTBB sets
  /// a mode of its own.
  void run(unsigned workers, const std::function<void(unsigned)>& body) {
    share(workers, [&body](unsigned worker) {
      const default_float_mode during;
      body(worker);
    });
  }

 private:
  virtual void share(unsigned workers, const std::function<void(unsigned)>& body) = 0;
};

/// Runs all workers on the calling thread.
inline void run_alone(unsigned workers, const std::function<void(unsigned)>& body) {
  for (unsigned worker = 0; worker < workers; ++worker) body(worker);
}

/// "serial", "threads", and "openmp" and "tbb" if this build has them.
std::span<const std::string_view> executor_names();
/// Why this executor cannot be created on this machine; empty if it can.
std::string why_no_executor(std::string_view name);
std::unique_ptr<executor> make_executor(std::string_view name, unsigned threads);

// One function for each programming model.
std::unique_ptr<executor> make_serial_executor(unsigned threads);
std::unique_ptr<executor> make_threads_executor(unsigned threads);
/// Like make_threads_executor, but the threads poll longer before they sleep. All bodies run at once, each on its own
/// thread, so they may wait for each other. This does not hold while another call of this executor is in progress.
std::unique_ptr<executor> make_rank_threads(unsigned ranks);
std::unique_ptr<executor> make_openmp_executor(unsigned threads);
std::unique_ptr<executor> make_tbb_executor(unsigned threads);

/// Why oneTBB's executor cannot be created on this machine; empty if it can.
std::string why_no_tbb_executor();

/// The function that executor.cpp looks up in the module of oneTBB's executor. The caller owns the executor.
extern "C" [[gnu::visibility("default")]] executor* tilewise_tbb_executor(unsigned threads);

}  // namespace tilewise::backend::cpu
