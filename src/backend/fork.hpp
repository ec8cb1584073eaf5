// SPDX-License-Identifier: Apache-2.0
// Support for fork(): a child has its parent's memory, but neither its driver connections nor its other threads.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include <unistd.h>

namespace tilewise::backend {

/// A count that is one higher in each child than in its parent, from the first call on.
unsigned forks_so_far() noexcept;

/// For objects that a forked child can neither use nor close: they belong to the process that first calls is_here().
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

/// The error message for a child.
std::string used_before_fork(std::string_view what);

/// A value that is destroyed in the process that made it, but not in forked children. For condition variables: the
/// destructor waits until no thread waits on it, and a child inherits the count of waiting threads without the threads.
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
