// A forked child has its parent's memory, but neither the connections of its drivers nor its other threads.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace tilewise::backend {

/// Grows by one in every child that is forked after the first call.
unsigned forks_so_far() noexcept;

/// Belongs to the process that asked first. For what cannot be used, nor closed, in a child of it.
class process_bound {
 public:
  bool is_here() noexcept {
    unsigned nobody = unclaimed;
    const unsigned now = forks_so_far();
    return owner_.compare_exchange_strong(nobody, now) || nobody == now;
  }

 private:
  static constexpr unsigned unclaimed = ~0u;
  std::atomic<unsigned> owner_{unclaimed};
};

/// The sentence for a child.
std::string used_before_fork(std::string_view what);

}  // namespace tilewise::backend
