// SPDX-License-Identifier: Apache-2.0
// How a program that uses the driver of fake_opencl.cpp tells it which of its calls fail, and asks what it holds.
#pragma once

#include <atomic>

namespace tilewise::tests {

/// The driver exports one, named `fake_opencl_control`.
struct fake_opencl_control {
  std::atomic<const char*> call{nullptr};  // the one that fails; null: what the environment says
  std::atomic<int> status{0};              // with which error
  std::atomic<long> skipped{0};            // so many of them work before
  std::atomic<long> failing{0};            // and then so many fail
  std::atomic<long> failed{0};             // so many have failed
  std::atomic<long> live{0};               // objects that were made and not released
};

}  // namespace tilewise::tests
