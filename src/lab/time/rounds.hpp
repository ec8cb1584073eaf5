// SPDX-License-Identifier: Apache-2.0
// Contenders are measured alternately, A B C then C B A, until enough has been measured: whatever disturbs the machine
// meanwhile affects all of them.
#pragma once

#include "lab/time/statistics.hpp"

#include <tilewise/error.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::lab {

enum class stop_reason { precision, max_samples, max_time, interrupted };
std::string_view name_of(stop_reason reason);

struct stop_rule {
  double precision = 0.01;  // half the width of the median's 95 % interval, relative to the median
  std::size_t min_samples = 10;
  double min_ns = 0.5e9;
  std::size_t max_samples = 1000;
  double max_ns = 10e9;

  /// Why to stop after these samples, which took `spent_ns`; none: go on. Precision is judged at min_samples and then
  /// each time a fifth more (at least five) are in: looking after every sample would stop at lucky moments.
  std::optional<stop_reason> verdict(std::span<const double> samples, double spent_ns) const;
};

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

/// The samples of one contender; sample r was taken in round r.
struct series {
  std::uint64_t calls_per_sample = 1;
  std::vector<double> ns;  // per call
  stop_reason reason = stop_reason::max_time;
  std::string failure = {};  // what the contender threw; it took no further part
  std::optional<errc> failure_code = std::nullopt;
};

/// What ranks of several processes ask is answered alike in all of them, and what fails in one ends them.
struct round_hooks {
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(const contender& next, std::size_t round)> before_sample = [](const contender&, std::size_t) {};
  std::function<void(const std::exception&)> on_failure = [](const std::exception&) {};  // before anything else runs
};

/// Warm-up of each, then rounds of one sample each; a call that outlasts the rule's time is a sample at once. A
/// contender leaves when it meets a cap of the rule or throws; the others go on until each has met the rule.
std::vector<series> measure_in_rounds(std::span<const contender> contenders, const stop_rule& rule,
                                      const round_hooks& hooks = {});

struct noise_floor {
  double aa_median_ratio;  // of the contender to itself
  double min_effect;       // a difference below this may be chance: the farther end of that ratio's interval from 1
};

/// Of one contender, entered twice: what differs when nothing differs. None below 6 common rounds.
std::optional<noise_floor> noise_between(const series& first, const series& again);

}  // namespace tilewise::lab
