// SPDX-License-Identifier: Apache-2.0
#include "report/scale/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace tilewise::report {

namespace {

constexpr std::size_t most_terms = 3;
constexpr std::size_t fits = 1000;  // for an interval; also the most for an error of prediction
using terms = std::array<double, most_terms>;

/// Each law is a sum of terms with coefficients that are not negative. Amdahl's time is x0 / p + x1, the USL's is x0 /
/// p + x1 + x2 (p - 1), and Gustafson's rate is x0 + x1 / p. In all of them, s = x1 / (x0 + x1) and b = x2 / (x0 + x1).
std::size_t terms_of(scaling_law law) { return law == scaling_law::usl ? 3 : 2; }
terms values_at(scaling_law law, double p) {
  return law == scaling_law::gustafson ? terms{1, 1 / p} : terms{1 / p, 1, p - 1};
}

double sum_at(scaling_law law, const terms& x, double p) {
  const terms at = values_at(law, p);
  double sum = 0;
  for (std::size_t k = 0; k < terms_of(law); ++k) sum += x[k] * at[k];
  return sum;
}
double ns_at(scaling_law law, const terms& x, double p) {
  const double sum = sum_at(law, x, p);
  return law == scaling_law::gustafson ? 1 / sum : sum;
}

/// The terms of the law divided by the value to fit, in units of that value's error.
struct equations {
  std::vector<terms> left;
  std::vector<double> right;
};

equations equations_of(scaling_law law, std::span<const timed_point> points) {
  equations all;
  for (const timed_point& at : points) {
    const double value = law == scaling_law::gustafson ? 1 / at.ns : at.ns;
    terms line = values_at(law, at.p);
    for (double& term : line) term /= value * at.error;
    all.left.push_back(line);
    all.right.push_back(1 / at.error);
  }
  return all;
}

/// Least squares with only these columns; other coefficients are 0. Solves the normal equations by Gaussian
/// elimination.
std::optional<terms> solve(const equations& all, const std::vector<std::size_t>& columns) {
  const std::size_t n = columns.size();
  std::array<std::array<double, most_terms + 1>, most_terms> a{};
  for (std::size_t e = 0; e < all.left.size(); ++e)
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] += all.left[e][columns[i]] * all.left[e][columns[j]];
      a[i][n] += all.left[e][columns[i]] * all.right[e];
    }
  for (std::size_t i = 0; i < n; ++i) {
    if (!(a[i][i] > 0)) return std::nullopt;  // positive semidefinite: no pivot elsewhere is needed
    for (std::size_t k = i + 1; k < n; ++k) {
      const double share = a[k][i] / a[i][i];
      for (std::size_t j = i; j <= n; ++j) a[k][j] -= share * a[i][j];
    }
  }
  terms x{};
  for (std::size_t i = n; i-- > 0;) {
    double rest = a[i][n];
    for (std::size_t j = i + 1; j < n; ++j) rest -= a[i][j] * x[columns[j]];
    x[columns[i]] = rest / a[i][i];
  }
  return x;
}

double squares(const equations& all, const terms& x) {
  double sum = 0;
  for (std::size_t e = 0; e < all.left.size(); ++e) {
    double residual = -all.right[e];
    for (std::size_t k = 0; k < most_terms; ++k) residual += all.left[e][k] * x[k];
    sum += residual * residual;
  }
  return sum;
}

/// The best coefficients that are not negative. It tries every choice of the nonzero ones, since there are few terms.
std::optional<terms> fitted(scaling_law law, std::span<const timed_point> points) {
  const equations all = equations_of(law, points);
  std::optional<terms> best;
  for (std::size_t chosen = 1; chosen < std::size_t{1} << terms_of(law); ++chosen) {
    std::vector<std::size_t> columns;
    for (std::size_t k = 0; k < terms_of(law); ++k)
      if ((chosen >> k & 1) != 0) columns.push_back(k);
    const std::optional<terms> x = solve(all, columns);
    const bool is_allowed = x && std::all_of(x->begin(), x->end(), [](double c) { return c >= 0; });
    if (is_allowed && (*x)[0] + (*x)[1] > 0 && (!best || squares(all, *x) < squares(all, *best))) best = x;
  }
  return best;
}

double serial_of(const terms& x) { return x[1] / (x[0] + x[1]); }
double coherency_of(const terms& x) { return x[2] / (x[0] + x[1]); }
double peak_of(const terms& x) {
  return x[2] > 0 ? std::max(1.0, std::sqrt(x[0] / x[2])) : std::numeric_limits<double>::infinity();
}

double relative_residual(scaling_law law, const terms& x, const timed_point& at) {
  return ns_at(law, x, at.p) / at.ns - 1;
}

double misfit_of(scaling_law law, const terms& x, std::span<const timed_point> points) {
  double sum = 0;
  for (const timed_point& at : points) sum += std::pow(relative_residual(law, x, at), 2);
  return std::sqrt(sum / static_cast<double>(points.size()));
}

/// Predicts each point by a fit without it. With more than `fits` points, several are left out at a time.
double error_of_predictions(scaling_law law, std::span<const timed_point> points) {
  const std::size_t folds = std::min(points.size(), fits);
  double sum = 0;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<timed_point> others;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (i % folds != fold) others.push_back(points[i]);
    const std::optional<terms> x = fitted(law, others);
    for (std::size_t i = fold; i < points.size(); i += folds)
      sum += x ? std::pow(relative_residual(law, *x, points[i]), 2) : std::numeric_limits<double>::infinity();
  }
  return std::sqrt(sum / static_cast<double>(points.size()));
}

/// How much larger the residuals are than the times' own errors, at least 1 (R. Birge, Physical Review 40, 1932).
double birge_ratio(scaling_law law, const terms& x, std::span<const timed_point> points) {
  double sum = 0;
  for (const timed_point& at : points) sum += std::pow(relative_residual(law, x, at) / at.error, 2);
  return std::sqrt(std::max(1.0, sum / static_cast<double>(points.size() - terms_of(law))));
}

/// Fits to the same points with random errors of the same size. The random numbers are always the same.
std::vector<terms> resampled(scaling_law law, const terms& x, std::span<const timed_point> points) {
  const double wider = birge_ratio(law, x, points);
  std::mt19937_64 bits(1);
  std::normal_distribution<double> normal;
  std::vector<terms> all;
  for (std::size_t i = 0; i < fits; ++i) {
    std::vector<timed_point> again(points.begin(), points.end());
    for (timed_point& at : again) at.ns *= std::exp(normal(bits) * wider * at.error);  // keeps times positive
    if (const std::optional<terms> y = fitted(law, again)) all.push_back(*y);
  }
  return all;
}

template <class Parameter>
interval interval_of(const terms& x, const std::vector<terms>& again, const Parameter& parameter) {
  std::vector<double> values;
  for (const terms& y : again) values.push_back(parameter(y));
  std::sort(values.begin(), values.end());
  const std::size_t tail = values.size() / 40;
  const auto finite = [](double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; };
  return {parameter(x), finite(values[tail]), finite(values[values.size() - 1 - tail])};
}

}  // namespace

const char* name_of(scaling_law law) {
  return law == scaling_law::amdahl ? "Amdahl" : law == scaling_law::usl ? "USL" : "Gustafson";
}

double scaling_fit::ns(double p) const {
  const double s = serial.median;
  return ns_at(law,
               law == scaling_law::gustafson ? terms{(1 - s) / one_ns, s / one_ns}
                                             : terms{(1 - s) * one_ns, s * one_ns, coherency.median * one_ns},
               p);
}

double scaling_fit::speedup(double p) const { return (law == scaling_law::gustafson ? p : 1) * one_ns / ns(p); }

std::optional<scaling_fit> fit_scaling(scaling_law law, std::span<const timed_point> points) {
  if (points.size() < least_points(law)) return std::nullopt;
  const std::optional<terms> x = fitted(law, points);
  if (!x) return std::nullopt;
  const std::vector<terms> again = resampled(law, *x, points);
  scaling_fit fit{.law = law, .serial = interval_of(*x, again, serial_of), .peak = {}};
  if (law == scaling_law::usl) {
    fit.coherency = interval_of(*x, again, coherency_of);
    if ((*x)[2] > 0) fit.peak = interval_of(*x, again, peak_of);
  }
  fit.one_ns = ns_at(law, *x, 1);
  fit.misfit = misfit_of(law, *x, points);
  fit.prediction_error = error_of_predictions(law, points);
  return fit;
}

interval karp_flatt(const interval& speedup, double p) {
  const auto e = [p](double s) { return (1 / s - 1 / p) / (1 - 1 / p); };
  const auto end = [&](const std::optional<double>& s) { return s ? std::optional(e(*s)) : std::nullopt; };
  return {e(speedup.median), end(speedup.high), end(speedup.low)};
}

}  // namespace tilewise::report
