// SPDX-License-Identifier: Apache-2.0
// Other people's libraries, opened when they are first measured, so that the tool starts without them.
#pragma once

#include "backend/driver_call.hpp"

#include <initializer_list>

#include <dlfcn.h>

namespace tilewise::peers {

/// A library's symbol, as the function that its header declares.
struct found_symbol {
  void* address;

  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};

/// The first of several names that can be opened; never closed.
class dynamic_library {
 public:
  explicit dynamic_library(std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (handle_ == nullptr)  // watched, since it runs code of theirs
        handle_ = backend::during(name, [&] { return dlopen(name, RTLD_NOW | RTLD_LOCAL); });
    is_complete_ = handle_ != nullptr;
  }

  /// Null if there is none.
  found_symbol find(const char* name) {
    void* const address = handle_ == nullptr ? nullptr : dlsym(handle_, name);
    is_complete_ = is_complete_ && address != nullptr;
    return {address};
  }

  /// Whether the library was found, with every symbol that was looked up.
  bool is_complete() const { return is_complete_; }

 private:
  void* handle_ = nullptr;
  bool is_complete_ = false;
};

}  // namespace tilewise::peers
