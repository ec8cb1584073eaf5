// SPDX-License-Identifier: Apache-2.0
// Detects ranks for which MPI would wait forever: a rank that ends or is stopped before MPI has connected it with the
// others, and later a rank that is stopped or whose host does not answer.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tilewise::backend::group {

/// Rank 0 and each other rank send each other a heartbeat every second, from a thread of their own. If a rank sends
/// nothing for seconds, or its connection closes without a farewell, its number and host are printed once. Then every
/// rank ends itself, since mpirun takes seconds to reach each host.
class rank_watch {
 public:
  /// `sockets` are rank 0's to the other ranks in order, or another rank's to rank 0. `hosts` are those of all ranks.
  /// Missing ranks are ignored once is_over() is true.
  rank_watch(unsigned rank, std::vector<std::string> hosts, const std::vector<int>& sockets,
             std::function<bool()> is_over);
  /// Sets a function that runs before this process ends because of another one.
  void before_giving_up(void (*work)() noexcept) { last_work_ = work; }
  /// Call this when this rank has failed, has printed why, and ends all ranks. It stops watching.
  void tell_failure();
  /// Whether rank 0 has called tell_failure().
  bool first_has_failed() const { return first_has_failed_; }
  /// Tells the others that this rank ends normally.
  ~rank_watch();

 private:
  struct line {
    int socket;
    unsigned rank;
    double heard_at;
    bool has_ended = false;  // the other rank
    bool has_said_so = false;
  };
  void watch();
  void hear(line& from);
  static std::string complaint(const line& about, double now);
  bool is_first_to_tell(unsigned lost_rank) const;
  [[noreturn]] void give_up() const;
  [[noreturn]] void miss(const line& lost, const std::string& has_done);
  void tell_all(char what) const;

  unsigned rank_;
  std::vector<std::string> hosts_;
  std::function<bool()> is_over_;
  std::vector<line> lines_;
  std::atomic<void (*)() noexcept> last_work_{nullptr};
  std::atomic<bool> ends_{false}, first_has_failed_{false};
  std::thread thread_;
};

/// While this object lives, a thread watches the processes of the same mpirun on this host. It ends this process if one
/// of them is gone, or stays stopped as after Ctrl-Z or SIGSTOP. Works only if mpirun tells its processes which of them
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
