// SPDX-License-Identifier: Apache-2.0
// Every public call that computes, as functions of a device: for tests in which something fails beneath them.
#pragma once

#include <tilewise/tilewise.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tilewise::tests {

/// Computes, and returns the bytes of the results on the host. Called again it does the same.
using attempt = std::function<std::vector<std::byte>()>;

struct public_call {
  std::string name;
  /// On host memory, or on arrays that it uploads now.
  std::function<attempt(const device&)> on;
};

/// Each algorithm in its forms, parts of longer arrays, and arrays by themselves; of groups, their own too.
std::vector<public_call> public_calls(const device& on);

/// Whether the host memory that all calls read is as it was.
bool inputs_are_whole();

}  // namespace tilewise::tests
