// SPDX-License-Identifier: Apache-2.0
// Parts of Tilewise in files of their own, which need what not every machine has and are loaded when first requested.
#pragma once

#include <tilewise/float_mode.hpp>

#include <string>

#include <dlfcn.h>

namespace tilewise::base {

/// A function of such a part, or why there is none.
struct module_function {
  void* found = nullptr;
  std::string why_none;

  template <class Function>
  Function* as() const {
    return reinterpret_cast<Function*>(found);
  }
};

/// Looks for `file` next to this library first, and never closes it: what it makes lives on. `user` and `library` are
/// for the reason: "cpu:tbb needs", "oneTBB, such as Debian's libtbb12".
inline module_function find_in_module(const char* file, const char* function, const std::string& user,
                                      const std::string& library) {
  const default_float_mode during;  // what is loaded may change it
  // The sanitizers' dlopen would not look next to this library; hence the other call.
  void* const loaded = dlmopen(LM_ID_BASE, file, RTLD_NOW | RTLD_LOCAL);
  void* const found = loaded == nullptr ? nullptr : dlsym(loaded, function);
  if (found != nullptr) return {found, ""};
  return {nullptr, user + " " + file + ", a part of Tilewise, and " + library + ": " + dlerror()};
}

}  // namespace tilewise::base
