// SPDX-License-Identifier: Apache-2.0
// One contender, and how its samples are taken.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace tilewise::lab {

struct contender {
  std::string name;
  /// Makes the calls back to back, waits for them, and returns the nanoseconds that all took; the same on all ranks.
  std::function<double(std::uint64_t calls)> time;
  /// Before each sample and outside its clock: settles or flushes caches. May be empty.
  std::function<void()> prepare = {};
  /// After each sample; not charged to its time. Lets what the contender left running come to rest. May be empty.
  std::function<void()> after = {};
  bool one_call = false;  // a sample is one call, however short (cold caches)
};

/// A sample is long against the clock's step and against what reading the clock costs.
inline constexpr double shortest_sample_ns = 100e3;
inline constexpr double shortest_sample_ticks = 1000;

struct calibration {
  std::uint64_t calls_per_sample = 1;
  double ns_per_call = 0;
};

/// Doubles the calls of a sample until it is long enough, then repeats it until three successive times agree within
/// 5 %, for at most `max_ns` in all.
calibration warm_up(const contender& who, double max_ns);

}  // namespace tilewise::lab
