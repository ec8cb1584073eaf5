// SPDX-License-Identifier: Apache-2.0
// What tests share that run problems larger than the device's memory (TILEWISE_DEVICE_MEMORY, which CMakeLists.txt sets
// for them).
#pragma once

#include "parts.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace tilewise::tests {

/// Values with wide exponents, and with sums that cancel.
inline std::vector<float> rough(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<float> values(count);
  for (float& v : values) v = std::ldexp(static_cast<float>(random()) - 0x1p31f, static_cast<int>(random() % 40) - 50);
  return values;
}

/// Runs on every device with its own memory, and on PoCL. `compute` returns the result on the device that it gets.
template <class Compute>
void expect_bits_of_cpu(const Compute& compute) {
  const auto expected = compute(open("cpu"));
  unsigned tried = 0;
  for (const device& on : devices()) {
    if (on.info().backend != "opencl" && on.info().backend != "cuda") continue;
    ++tried;
    EXPECT_TRUE(same_bytes(compute(on), expected)) << on.name();
  }
  if (tried == 0) GTEST_SKIP() << "there is no device with memory of its own";
}

}  // namespace tilewise::tests
