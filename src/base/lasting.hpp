// SPDX-License-Identifier: Apache-2.0
// Function-local statics that are never destroyed, and values that threads share.
#pragma once

#include "base/enter.hpp"

#include <mutex>

namespace tilewise::base {

/// Keeps what `make` returns for ever: the program's static destructors may still call the library.
/// `static const T& x = lasting([] { return T{...}; });`
template <class Make>
auto& lasting(const Make& make) {
  return *enter([&] { return new auto(make()); });
}

/// A value that can be reached only while its mutex is held.
template <class T>
class guarded {
 public:
  /// Calls use(value) with the mutex held and returns a copy of its result.
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
