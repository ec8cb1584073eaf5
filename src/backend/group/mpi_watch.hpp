// SPDX-License-Identifier: Apache-2.0
// Notices a rank that is stopped, or whose host does not answer: MPI itself would wait for it for ever.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace tilewise::backend::group {

/// How long a rank may be silent, or stopped.
inline constexpr unsigned silent_for_s = 6;

/// How long whoever misses a rank waits before it tells so: one rank shall speak, and mpirun, which sees each process
/// end, may end them all first. It takes seconds to reach other hosts.
inline constexpr std::chrono::milliseconds moment(200), until_mpirun_ends_others(3000);

/// Prints after that time what a rank has done, "on node7 has ended".
void tell_lost(std::chrono::milliseconds patience, unsigned lost_rank, const std::string& has_done);
/// Ends this process with the exit code of a lost device.
[[noreturn]] void end_without_others();

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

}  // namespace tilewise::backend::group
