// SPDX-License-Identifier: Apache-2.0
// Scaling laws: how a time depends on the number of processors p. Fits them to measured times.
//
//   Amdahl (1967)         T(p) = T(1) (s + (1 - s) / p)
//                         a share s of the work is serial: the speedup is at most 1 / s
//   Gunther (2007)        T(p) = T(1) (1 + a (p - 1) + b p (p - 1)) / p
//                         the universal scalability law (USL): contention a, coherency b
//   Gustafson (1988)      S(p) = p - s (p - 1)
//                         for work that grows with p: s is the serial share of the time
//   Karp and Flatt (1990) e(p) = (1 / S - 1 / p) / (1 - 1 / p)
//                         Amdahl's s from this point alone
//
// G. Amdahl, Validity of the single processor approach, AFIPS 1967. J. Gustafson, Reevaluating Amdahl's law, CACM
// 31(5), 1988. A. Karp and H. Flatt, Measuring parallel processor performance, CACM 33(5), 1990. N. Gunther, Guerrilla
// Capacity Planning, Springer 2007.
#pragma once

#include "report/model.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace tilewise::report {

/// A time with p processors, and its relative standard error, which is above 0.
struct timed_point {
  double p, ns, error;
};

enum class scaling_law { amdahl, usl, gustafson };
const char* name_of(scaling_law law);

/// The fewest points to fit. With fewer, a line of Amdahl or Gustafson, or the USL's three parameters, could fit noise.
constexpr std::size_t least_points(scaling_law law) { return law == scaling_law::usl ? 6 : 4; }

/// A fitted law. Intervals are 95 %, by a parametric bootstrap from the times' own errors. They are wider if the law
/// misses the points by more than these errors.
struct scaling_fit {
  scaling_law law;
  interval serial;                 // s in [0, 1]; the USL's contention a
  interval coherency{};            // the USL's b, at least 0
  std::optional<interval> peak{};  // the USL's fastest p, at least 1; only if b is not 0
  double one_ns = 0;               // T(1) according to the law
  double misfit = 0;               // root mean square of the relative residuals
  double prediction_error = 0;     // the same for points that were left out of the fit, each in turn

  double ns(double p) const;
  /// Speedup over one processor; for Gustafson's law, with work that grows with p.
  double speedup(double p) const;
};

/// Fits by weighted least squares of relative residuals, with every parameter within its range. The points must have
/// distinct p. None for fewer points than least_points.
std::optional<scaling_fit> fit_scaling(scaling_law law, std::span<const timed_point> points);

/// Karp and Flatt's e(p), for p above 1. The ends of its interval come from those of the speedup.
interval karp_flatt(const interval& speedup, double p);

}  // namespace tilewise::report
