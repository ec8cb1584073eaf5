// SPDX-License-Identifier: Apache-2.0
// Lets a test tell a substitute for a driver (fake_opencl.cpp, failing_cuda.cpp) which of its calls fail, and ask how
// many objects it holds.
#pragma once

#include <atomic>
#include <cstring>

namespace tilewise::tests {

struct failing_calls {
  std::atomic<const char*> call{nullptr};  // the call that fails; null: none
  std::atomic<int> status{0};              // the error that it returns
  std::atomic<long> skipped{0};            // this many calls work first
  std::atomic<long> failing{0};            // then this many fail
  std::atomic<long> failed{0};             // this many have failed
  std::atomic<long> live{0};               // objects made and not released
  std::atomic<long> unchecked{0};  // kernels launched although a launch or an argument that they need had failed

  /// The error that this call must return; 0 for none.
  int fault(const char* name) {
    const char* const told = call;
    if (told == nullptr || std::strcmp(told, name) != 0 || skipped-- > 0 || failing-- <= 0) return 0;
    ++failed;
    return status;
  }
};

}  // namespace tilewise::tests
