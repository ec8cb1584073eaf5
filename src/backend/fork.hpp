// SPDX-License-Identifier: Apache-2.0
// A forked child has its parent's memory, but neither its drivers' connections nor its other threads.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include <unistd.h>

namespace tilewise::backend {

/// Grows by one in every child forked after the first call.
unsigned forks_so_far() noexcept;

/// Belongs to the process that asked first. For what a child of it can neither use nor close.
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

/// The message for a child.
std::string used_before_fork(std::string_view what);

/// Destroyed in the process that made it, and in none of its children. For a condition: its destructor waits for the
/// threads that wait there, and a child has the parent's count of them, but no threads to leave.
template <class T>
class unless_forked {
 public:
  unless_forked() : value_() {}
  ~unless_forked() {
    if (getpid() == process_) value_.~T();
  }
  unless_forked(const unless_forked&) = delete;
  T* operator->() { return &value_; }

 private:
  const pid_t process_ = getpid();
  union {
    T value_;
  };
};

}  // namespace tilewise::backend
