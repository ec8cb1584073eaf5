// SPDX-License-Identifier: Apache-2.0
#include "base/module.hpp"

#include <tilewise/float_mode.hpp>

#include <dlfcn.h>

namespace tilewise::base {

module_function find_in_module(const char* file, const char* function, const std::string& user,
                               const std::string& library) {
  const default_float_mode during;  // what is loaded may change it
  // The sanitizers' dlopen would not look next to this library; hence the other call.
  void* const loaded = dlmopen(LM_ID_BASE, file, RTLD_NOW | RTLD_LOCAL);
  void* const found = loaded == nullptr ? nullptr : dlsym(loaded, function);
  if (found != nullptr) return {found, ""};
  return {nullptr, user + " " + file + ", a part of Tilewise, and " + library + ": " + dlerror()};
}

}  // namespace tilewise::base
