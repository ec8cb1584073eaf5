// SPDX-License-Identifier: Apache-2.0
// Every public call that computes, as functions of a device, for tests in which something below the call fails.
#pragma once

#include <tilewise/tilewise.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tilewise::tests {

/// Computes, and returns the bytes of the results on the host. It can be repeated with the same results.
using attempt = std::function<std::vector<std::byte>()>;

struct public_call {
  std::string name;
  /// Prepares the call on a device, with host memory, or with arrays that are uploaded now.
  std::function<attempt(const device&)> on;
};

/// Each algorithm in all its forms, parts of longer arrays, and arrays alone; for a group, also its own calls.
std::vector<public_call> public_calls(const device& on);

/// Whether the host memory that all calls read is unchanged.
bool inputs_are_whole();

}  // namespace tilewise::tests
