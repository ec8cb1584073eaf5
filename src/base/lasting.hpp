// SPDX-License-Identifier: Apache-2.0
// Function-local statics that outlive all others, and what threads share.
#pragma once

#include "base/enter.hpp"

#include <mutex>

namespace tilewise::base {

/// What `make` returns, never destroyed, since static destructors of the program may still call us:
/// `static const T& x = lasting([] { return T{...}; });`
template <class Make>
auto& lasting(const Make& make) {
  return *enter([&] { return new auto(make()); });
}

/// Out of reach without its lock.
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
