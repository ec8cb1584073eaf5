// SPDX-License-Identifier: Apache-2.0
// What this host calls itself.
#pragma once

#include <array>
#include <string>

#include <unistd.h>

namespace tilewise::base {

inline std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "a host without a name";
}

}  // namespace tilewise::base
