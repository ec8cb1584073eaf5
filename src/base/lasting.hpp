// SPDX-License-Identifier: Apache-2.0
// Function-local statics that outlive all others.
#pragma once

#include "base/enter.hpp"

namespace tilewise::base {

/// What `make` returns, never destroyed, since static destructors of the program may still call us:
/// `static const T& x = lasting([] { return T{...}; });`
template <class Make>
auto& lasting(const Make& make) {
  return *enter([&] { return new auto(make()); });
}

}  // namespace tilewise::base
