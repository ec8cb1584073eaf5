// SPDX-License-Identifier: Apache-2.0
// How an algorithm scales: curves over the number of threads or ranks, from records that differ only in that number.
#pragma once

#include "report/scale/fit.hpp"

#include <span>
#include <string>
#include <vector>

namespace tilewise::report {

/// The results with p processors: threads of the CPU, or ranks of a group. Ratios are of medians; their intervals come
/// from the ends of both medians' intervals.
struct scaling_point {
  std::uint64_t p;
  const row* what;
  std::optional<interval> over_one{};         // speedup over the same program on one processor, T_1
  std::optional<interval> over_best{};        // over the best program for one processor, T_s
  std::optional<interval> efficiency{};       // over_one / p
  std::optional<interval> cost{};             // p T(p) over the time of the best program for one processor
  std::optional<interval> serial_fraction{};  // Karp and Flatt's; only if n is fixed
  std::optional<double> exchange{};           // share of the time that ranks exchange data, from a separate pass
  bool is_superlinear = false;                // more than p times as fast as one processor, beyond the noise

  /// Whether one process has more threads or ranks than its machine has processors, so that they take turns. Under
  /// mpirun records do not say how many machines there were.
  bool is_crowded() const;
  /// Whether laws are fitted to this point: they need its interval as a weight, and a processor for each thread or
  /// rank.
  bool is_fitted() const { return what->kernel->low && what->kernel->high && !is_crowded(); }
};

/// strong: n is fixed. weak: the first size, and with it the work, grows with p; speedups count the work done.
enum class scaling_kind { strong, weak };

struct scaling_curve {
  scaling_kind kind;
  std::string processors{};             // "cpu:threads"; for ranks "cuda", "cpu:serial, Open MPI 4.1.4"
  const row* best = nullptr;            // the best program for one processor, peers included; null if not measured
  std::vector<scaling_point> points{};  // by p; a single one only for ranks that are compared with one device
  std::vector<scaling_fit> fits{};      // best first, by how well each predicts a point from the others

  const row& largest() const { return *points.back().what; }
  const row* one() const { return points.front().p == 1 ? points.front().what : nullptr; }
  const scaling_fit* fit(scaling_law law) const;
  std::uint64_t last_fitted() const;  // the largest fitted p; 0 if there is none
};

/// Predictions go up to this multiple of the fitted processors.
constexpr std::uint64_t extrapolation = 2;

/// Curves from rows of our variants with a correct and plausible time, in the order of appearance. If a case was
/// measured more than once, the last record counts.
std::vector<scaling_curve> scaling_curves(std::span<const row* const> rows, scaling_kind kind);

/// A finding in sentences; empty if there is nothing to say.
std::string cost_finding(const scaling_curve& of);
std::string karp_flatt_finding(const scaling_curve& of);
std::string superlinear_finding(const scaling_curve& of);
/// Says that some points are crowded.
std::string crowding_finding(const scaling_curve& of);
/// "Amdahl: serial part 3.1 % (2.9 % to 3.3 %), at most 32 times as fast"
std::string fit_finding(const scaling_fit& of);
/// What the best fit predicts for twice as many processors.
std::string extrapolation_finding(const scaling_curve& of);

}  // namespace tilewise::report
