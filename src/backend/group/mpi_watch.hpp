// SPDX-License-Identifier: Apache-2.0
// Notices a rank that is stopped, or whose host does not answer: MPI itself would wait for it for ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace tilewise::backend::group {

/// How long a rank may be silent, or stopped.
inline constexpr unsigned silent_for_s = 6;

/// Prints what a rank has done, "on node7 has ended", and ends this process with the exit code of a lost device. Of
/// those who notice it one shall speak; the others leave mpirun time to end them.
[[noreturn]] void give_up(unsigned own_rank, unsigned lost_rank, const std::string& has_done);

/// Connections between rank 0 and each other rank, over which a thread on either side says every second that its
/// process is there. Whoever hears nothing for seconds, or an end without a word, prints the rank and its host, and
/// ends its process, at which mpirun ends the others.
class rank_watch {
 public:
  /// Rank 0 listens, and the others connect to the address that it has told them. Empty, or false, where there is no
  /// connection; then nobody is watched.
  std::string listen();
  bool connect(const std::string& address);

  /// `hosts` of all ranks, in order; begins once every rank is connected. Nobody is missed once `is_over`.
  void begin(unsigned rank, const std::vector<std::string>& hosts, std::function<bool()> is_over);
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

  unsigned rank_ = 0;
  std::vector<std::string> hosts_;
  std::function<bool()> is_over_;
  int listener_ = -1;
  std::vector<line> lines_;
  std::atomic<bool> ends_{false}, first_has_failed_{false};
  std::thread thread_;
};

}  // namespace tilewise::backend::group
