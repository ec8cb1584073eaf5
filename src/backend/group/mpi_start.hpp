// SPDX-License-Identifier: Apache-2.0
// Notices a rank that ends or is stopped before MPI has connected it with the others, who would wait for it for ever.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tilewise::backend::group {

/// As long as it lives, a thread looks at the processes of the same mpirun on this host, and ends this one if one of
/// them is gone, or stays stopped as after Ctrl-Z or SIGSTOP. Only where mpirun tells its processes which of them
/// belong together, as Open MPI's does.
class start_watch {
 public:
  start_watch();
  ~start_watch();

 private:
  using clock = std::chrono::steady_clock;
  void watch(const std::string& job, unsigned own_rank, clock::time_point looked_at);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace tilewise::backend::group
