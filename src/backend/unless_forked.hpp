// SPDX-License-Identifier: Apache-2.0
// What a forked child must not destroy.
#pragma once

#include <unistd.h>

namespace tilewise::backend {

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
