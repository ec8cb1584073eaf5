// SPDX-License-Identifier: Apache-2.0
// How a program tells what stands in for a driver (fake_opencl.cpp, failing_cuda.cpp) which of its calls fail, and asks
// what it holds.
#pragma once

#include <atomic>
#include <cstring>

namespace tilewise::tests {

struct failing_calls {
  std::atomic<const char*> call{nullptr};  // the one that fails; null: none
  std::atomic<int> status{0};              // with which error
  std::atomic<long> skipped{0};            // so many of them work before
  std::atomic<long> failing{0};            // and then so many fail
  std::atomic<long> failed{0};             // so many have failed
  std::atomic<long> live{0};               // objects that were made and not released
  std::atomic<long> unchecked{0};          // kernels launched though a launch or an argument that they need failed

  /// The error that this call is to return; 0 for none.
  int fault(const char* name) {
    const char* const told = call;
    if (told == nullptr || std::strcmp(told, name) != 0 || skipped-- > 0 || failing-- <= 0) return 0;
    ++failed;
    return status;
  }
};

}  // namespace tilewise::tests
