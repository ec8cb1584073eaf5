// SPDX-License-Identifier: Apache-2.0
// What threads share, out of reach without its lock.
#pragma once

#include <mutex>

namespace tilewise::base {

template <class T>
class guarded {
 public:
  /// Returns a copy of what `use` returns of it; one thread at a time.
  template <class Use>
  auto with(const Use& use) {
    const std::lock_guard lock(mutex_);
    return use(value_);
  }

 private:
  std::mutex mutex_;
  T value_{};
};

}  // namespace tilewise::base
