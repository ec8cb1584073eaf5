// SPDX-License-Identifier: Apache-2.0
// Modules: parts of Tilewise in separate libraries. They need other libraries that not every machine has, so they are
// loaded on first use.
#pragma once

#include <tilewise/float_mode.hpp>

#include <string>

#include <dlfcn.h>

namespace tilewise::base {

/// A function of a module, or the reason why it is not available.
struct module_function {
  void* found = nullptr;
  std::string why_none;

  template <class Function>
  Function* as() const {
    return reinterpret_cast<Function*>(found);
  }
};

/// Finds a function in the module `file`, which is looked for next to this library first. The module is never unloaded,
/// since its objects stay in use. `user` and `library` are for the error message: "cpu:tbb needs", "oneTBB, such as
/// Debian's libtbb12".
inline module_function find_in_module(const char* file, const char* function, const std::string& user,
                                      const std::string& library) {
  const default_float_mode during;  // loading a library may change the floating-point mode
  // Not dlopen: the sanitizers' replacement of it does not look next to this library.
  void* const loaded = dlmopen(LM_ID_BASE, file, RTLD_NOW | RTLD_LOCAL);
  void* const found = loaded == nullptr ? nullptr : dlsym(loaded, function);
  if (found != nullptr) return {found, ""};
  return {nullptr, user + " " + file + ", a part of Tilewise, and " + library + ": " + dlerror()};
}

}  // namespace tilewise::base
