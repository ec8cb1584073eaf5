// SPDX-License-Identifier: Apache-2.0
// Notices a rank that ends or is stopped before MPI has connected it with the others, and later one that is stopped, or
// whose host does not answer: MPI itself would wait for it for ever.
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

/// Over connections between rank 0 and each other rank a thread on either side says every second that its process is
/// there. Where one hears nothing for seconds, or an end without a word, the rank and its host are printed once, and
/// all end by themselves: mpirun takes seconds to reach each host.
class rank_watch {
 public:
  /// The `sockets` are rank 0's to the others in order, or another rank's to rank 0; `hosts` are those of all ranks.
  /// Nobody is missed once `is_over`.
  rank_watch(unsigned rank, std::vector<std::string> hosts, const std::vector<int>& sockets,
             std::function<bool()> is_over);
  /// What this process does before it ends because of another one.
  void before_giving_up(void (*work)() noexcept) { last_work_ = work; }
  /// This rank has failed, has said why, and ends all; it watches nobody any more.
  void tell_failure();
  /// Whether rank 0 has told so.
  bool first_has_failed() const { return first_has_failed_; }
  /// This rank is about to end as it should.
  ~rank_watch();

 private:
  struct line {
    int socket;
    unsigned rank;
    double heard_at;
    bool has_ended = false;  // the other side
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
