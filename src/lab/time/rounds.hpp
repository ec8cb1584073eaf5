// SPDX-License-Identifier: Apache-2.0
// Measures contenders in turns, A B C then C B A, until there are enough samples. Whatever disturbs the machine
// meanwhile then affects all of them.
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

  /// The reason to stop after these samples, which took `spent_ns`; none: go on. Precision is judged at min_samples,
  /// and then each time the samples have grown by a fifth, and by at least five. Judging after every sample would stop
  /// at lucky moments.
  std::optional<stop_reason> verdict(std::span<const double> samples, double spent_ns) const;
};

struct contender {
  std::string name;
  /// Makes the calls back to back, waits for them, and returns the nanoseconds of all together. Ranks must return the
  /// same.
  std::function<double(std::uint64_t calls)> time;
  /// Runs before each sample, outside its time: settles or flushes caches. May be empty.
  std::function<void()> prepare = {};
  /// Runs after each sample, outside its time: waits until what the contender left running is idle. May be empty.
  std::function<void()> after = {};
  bool one_call = false;  // a sample is one call, however short (cold caches)
};

/// Long enough that neither the clock's step nor the cost of reading it matters.
inline constexpr double shortest_sample_ns = 100e3;
inline constexpr double shortest_sample_ticks = 1000;

struct calibration {
  std::uint64_t calls_per_sample = 1;
  double ns_per_call = 0;
};

/// Doubles the calls of a sample until it is long enough, then repeats the sample until three successive times agree
/// within 5 %. Takes at most `max_ns`.
calibration warm_up(const contender& who, double max_ns);

/// The samples of one contender; sample r was taken in round r.
struct series {
  std::uint64_t calls_per_sample = 1;
  std::vector<double> ns;  // per call
  stop_reason reason = stop_reason::max_time;
  std::string failure = {};  // what the contender threw, after which it took no further part
  std::optional<errc> failure_code = std::nullopt;
};

/// With several processes, each of these must give the same answer on all ranks; a failure in one process ends all.
struct round_hooks {
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(const contender& next, std::size_t round)> before_sample = [](const contender&, std::size_t) {};
  std::function<void(const std::exception&)> on_failure = [](const std::exception&) {};  // before anything else runs
};

/// Warms up each contender, then takes one sample of each in every round. If the first call of a contender takes longer
/// than the rule's time, that call is its only sample. A contender leaves when it reaches a cap of the rule or throws;
/// the others go on until each has met the rule.
std::vector<series> measure_in_rounds(std::span<const contender> contenders, const stop_rule& rule,
                                      const round_hooks& hooks = {});

struct noise_floor {
  double aa_median_ratio;  // of the contender against itself
  double min_effect;       // smaller differences may be chance: how far that ratio's interval reaches from 1
};

/// The noise floor, from one contender that was entered twice. None below 6 common rounds.
std::optional<noise_floor> noise_between(const series& first, const series& again);

}  // namespace tilewise::lab
