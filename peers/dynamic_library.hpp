// SPDX-License-Identifier: Apache-2.0
// Other people's libraries, loaded when they are first measured, so that the tool starts without them.
#pragma once

#include "backend/driver_call.hpp"

#include <initializer_list>
#include <utility>

#include <dlfcn.h>

namespace tilewise::peers {

/// A symbol of a library, which converts to the function that its header declares.
struct found_symbol {
  void* address;

  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};

/// Loads the first of several names that exists. It stays loaded unless it is unloaded.
class dynamic_library {
 public:
  explicit dynamic_library(std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (handle_ == nullptr)  // watched, since loading runs the library's code
        handle_ = backend::during(name, [&] { return dlopen(name, RTLD_NOW | RTLD_LOCAL); });
    is_complete_ = handle_ != nullptr;
  }

  /// The symbol; null if there is none.
  found_symbol find(const char* name) {
    void* const address = handle_ == nullptr ? nullptr : dlsym(handle_, name);
    is_complete_ = is_complete_ && address != nullptr;
    return {address};
  }

  void unload() {
    if (handle_ != nullptr) dlclose(std::exchange(handle_, nullptr));
    is_complete_ = false;
  }

  /// Whether the library and every symbol asked for were found.
  bool is_complete() const { return is_complete_; }

 private:
  void* handle_ = nullptr;
  bool is_complete_ = false;
};

}  // namespace tilewise::peers
