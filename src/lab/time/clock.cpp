// SPDX-License-Identifier: Apache-2.0
#include "lab/time/clock.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace tilewise::lab {

namespace {

std::int64_t smallest_step() {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t before = now_ns();
    std::int64_t after = before;
    while (after == before) after = now_ns();
    smallest = std::min(smallest, after - before);
  }
  return std::max<std::int64_t>(smallest, 1);
}

}  // namespace

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t clock_resolution_ns() {
  static const std::int64_t resolution = smallest_step();
  return resolution;
}

}  // namespace tilewise::lab
