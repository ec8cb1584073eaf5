// Function-local statics that outlive all others.
#pragma once

#include <utility>

namespace tilewise::base {

/// A value that is never destroyed, since static destructors of the program may still call us:
/// `static const T& x = lasting(T{...});`
template <class T>
T& lasting(T value) {
  return *new T(std::move(value));
}

}  // namespace tilewise::base
