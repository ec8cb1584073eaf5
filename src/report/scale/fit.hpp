// SPDX-License-Identifier: Apache-2.0
// Laws of how a time follows the number of processors p, fitted to measured times. Numbers in, numbers out.
//
//   Amdahl (1967)         T(p) = T(1) (s + (1 - s) / p)
//                         a part s of the work is serial: at most 1 / s times as fast
//   Gunther (2007)        T(p) = T(1) (1 + a (p - 1) + b p (p - 1)) / p
//                         the universal scalability law (USL): contention a, coherency b
//   Gustafson (1988)      S(p) = p - s (p - 1)
//                         of work that grows with p: s is the serial part of the time
//   Karp and Flatt (1990) e(p) = (1 / S - 1 / p) / (1 - 1 / p)
//                         Amdahl's s by this point alone
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

/// A time at p processors, and its relative standard error, above 0.
struct timed_point {
  double p, ns, error;
};

enum class scaling_law { amdahl, usl, gustafson };
const char* name_of(scaling_law law);

/// Amdahl's or Gustafson's line through fewer points, or the USL's three parameters, could pass through noise.
constexpr std::size_t least_points(scaling_law law) { return law == scaling_law::usl ? 6 : 4; }

/// Intervals are 95 % by a parametric bootstrap: they hold what the times' own errors leave open, widened where the law
/// misses the points by more than these.
struct scaling_fit {
  scaling_law law;
  interval serial;                 // s in [0, 1]; the USL's contention a
  interval coherency{};            // the USL's b, at least 0
  std::optional<interval> peak{};  // the USL's fastest p, at least 1, if b is not 0
  double one_ns = 0;               // T(1) by the law
  double misfit = 0;               // root mean square of the relative residuals
  double prediction_error = 0;     // the same of each point by a fit to the others

  double ns(double p) const;
  /// Over one processor, of work that grows with p for Gustafson's law.
  double speedup(double p) const;
};

/// By weighted least squares of relative residuals, with every parameter within its range. The points have distinct p;
/// none below least_points.
std::optional<scaling_fit> fit_scaling(scaling_law law, std::span<const timed_point> points);

/// Karp and Flatt's e(p) for p above 1. Its ends come from those of the speedup.
interval karp_flatt(const interval& speedup, double p);

}  // namespace tilewise::report
