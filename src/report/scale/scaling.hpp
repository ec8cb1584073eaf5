// SPDX-License-Identifier: Apache-2.0
// How an algorithm scales: records that differ in the number of threads or of ranks alone, as curves over that number.
#pragma once

#include "report/scale/fit.hpp"

#include <span>
#include <string>
#include <vector>

namespace tilewise::report {

/// What was measured with p processors: threads of the CPU, or ranks of a group. Ratios of medians; their intervals
/// come from the ends of both.
struct scaling_point {
  std::uint64_t p;
  const row* what;
  std::optional<interval> over_one{};         // speedup over the same program on one processor, T_1
  std::optional<interval> over_best{};        // over the best program for one, T_s
  std::optional<interval> efficiency{};       // over_one / p
  std::optional<interval> cost{};             // p T(p) over the time of the best program for one
  std::optional<interval> serial_fraction{};  // Karp and Flatt's, where n is fixed
  std::optional<double> exchange{};           // share of the time in which ranks exchange, from a pass apart
  bool is_superlinear = false;                // more than p times as fast as one, beyond the noise

  /// More threads or ranks of one process than its machine has processors, which take turns. How many machines the
  /// processes of mpirun had, no record says.
  bool is_crowded() const;
  /// Laws are about processors, and weigh times by their intervals.
  bool is_fitted() const { return what->kernel->low && what->kernel->high && !is_crowded(); }
};

/// strong: n is fixed. weak: the first size, and with it the work, is p times that of one processor; speedups count the
/// work done.
enum class scaling_kind { strong, weak };

struct scaling_curve {
  scaling_kind kind;
  std::string processors{};             // "cpu:threads"; of ranks "cuda", "cpu:serial, Open MPI 4.1.4"
  const row* best = nullptr;            // the best program for one processor, peers included; null if none was measured
  std::vector<scaling_point> points{};  // by p; a single one only of ranks held against one device
  std::vector<scaling_fit> fits{};      // the best at predicting a point from the others first

  const row& largest() const { return *points.back().what; }
  const row* one() const { return points.front().p == 1 ? points.front().what : nullptr; }
  const scaling_fit* fit(scaling_law law) const;
  std::uint64_t last_fitted() const;  // p; 0 if there is none
};

/// Nothing is said of more processors than twice as many as were fitted.
constexpr std::uint64_t extrapolation = 2;

/// Of rows of our variants with a right and plausible time, by first appearance. If a case was measured more than once,
/// the last one counts.
std::vector<scaling_curve> scaling_curves(std::span<const row* const> rows, scaling_kind kind);

/// In sentences; empty where there is nothing to say.
std::string cost_finding(const scaling_curve& of);
std::string karp_flatt_finding(const scaling_curve& of);
std::string superlinear_finding(const scaling_curve& of);
/// That some points are crowded.
std::string crowding_finding(const scaling_curve& of);
/// "Amdahl: serial part 3.1 % (2.9 % to 3.3 %), at most 32 times as fast"
std::string fit_finding(const scaling_fit& of);
/// What the best fit says of twice as many processors.
std::string extrapolation_finding(const scaling_curve& of);

}  // namespace tilewise::report
