// Notices a rank that is stopped, or whose host does not answer: MPI itself would wait for it for ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace tilewise::backend::group {

/// Connections between rank 0 and each other rank, over which a thread on either side says every second that its
/// process is there. Whoever hears nothing for seconds prints the rank and its host, and ends its process with exit
/// code 8, at which mpirun ends the others.
class rank_watch {
 public:
  /// Rank 0 listens, and the others connect to the address that it has told them. Empty, or false, where there is no
  /// connection; then nobody is watched.
  std::string listen();
  bool connect(const std::string& address);

  /// `hosts` of all ranks, in order; begins once every rank is connected.
  void begin(unsigned rank, const std::vector<std::string>& hosts);
  /// This rank is about to end as it should.
  ~rank_watch();

 private:
  struct line {
    int socket;
    unsigned rank;
    double heard_at;
  };
  void watch();
  bool hears(line& from);
  [[noreturn]] void give_up(const line& lost) const;

  unsigned rank_ = 0;
  std::vector<std::string> hosts_;
  int listener_ = -1;
  std::vector<line> lines_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace tilewise::backend::group
