// SPDX-License-Identifier: Apache-2.0
// Parts of Tilewise in files of their own, which need what not every machine has and are loaded when first requested.
#pragma once

#include <string>

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
module_function find_in_module(const char* file, const char* function, const std::string& user,
                               const std::string& library);

}  // namespace tilewise::base
