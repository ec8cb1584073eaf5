// SPDX-License-Identifier: Apache-2.0
// Laws of speedup, fitted to times made from known parameters.
#include "report/scale/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tilewise::report {
namespace {

constexpr double one_ns = 1e6, error = 0.005;

/// Errors with alternating signs, which no parameter can absorb.
template <class Law>
std::vector<timed_point> times_of(const std::vector<double>& counts, const Law& law, double noise = error) {
  std::vector<timed_point> points;
  for (const double p : counts)
    points.push_back({p, one_ns * law(p) * (1 + (points.size() % 2 == 0 ? noise : -noise)), error});
  return points;
}

const std::vector<double> many{1, 2, 3, 4, 6, 8, 12, 16};

auto amdahl(double s) {
  return [s](double p) { return s + (1 - s) / p; };
}
auto usl(double a, double b) {
  return [a, b](double p) { return (1 + a * (p - 1) + b * p * (p - 1)) / p; };
}

void expect_around(const interval& found, double truth) {
  ASSERT_TRUE(found.low && found.high);
  EXPECT_LE(*found.low, truth);
  EXPECT_GE(*found.high, truth);
  EXPECT_LE(*found.low, found.median);
  EXPECT_GE(*found.high, found.median);
}

TEST(ScalingFit, AmdahlsSerialPartIsRecoveredWithinItsInterval) {
  for (const double s : {0.01, 0.05, 0.3, 0.9}) {
    const auto fit = fit_scaling(scaling_law::amdahl, times_of(many, amdahl(s)));
    ASSERT_TRUE(fit);
    expect_around(fit->serial, s);
    EXPECT_LT(*fit->serial.high - *fit->serial.low, 0.03) << "an interval that says something";
    EXPECT_NEAR(fit->one_ns, one_ns, 0.01 * one_ns);
    EXPECT_NEAR(fit->misfit, error, 0.2 * error);
    EXPECT_NEAR(fit->speedup(32), 1 / amdahl(s)(32), 0.1 / amdahl(s)(32));
  }
}

/// With so many times, several are left out together. Each is predicted once, by a fit without it.
TEST(ScalingFit, ManyTimesArePredicted) {
  std::vector<double> counts;
  for (double p = 1; counts.size() < 1500; ++p) counts.push_back(p);
  std::vector<timed_point> times = times_of(counts, amdahl(0.5), 0);
  EXPECT_NEAR(fit_scaling(scaling_law::amdahl, times)->prediction_error, 0, 1e-9);
  times.back().ns *= 0.5;  // the law says twice this
  EXPECT_NEAR(fit_scaling(scaling_law::amdahl, times)->prediction_error, 1 / std::sqrt(1500.0), 1e-3);
}

TEST(ScalingFit, TheSerialPartIsNeverOutsideItsRange) {
  const auto better = fit_scaling(scaling_law::amdahl, times_of(many, [](double p) { return 1 / std::pow(p, 1.1); }));
  EXPECT_EQ(better->serial.median, 0);
  const auto slower = fit_scaling(scaling_law::amdahl, times_of(many, [](double p) { return 1 + 0.1 * p; }));
  EXPECT_EQ(slower->serial.median, 1);
}

TEST(ScalingFit, GustafsonsSerialPartIsRecoveredFromWorkThatGrows) {
  for (const double s : {0.02, 0.2}) {
    const auto weak = [s](double p) { return p / (p - s * (p - 1)); };
    const auto fit = fit_scaling(scaling_law::gustafson, times_of(many, weak));
    ASSERT_TRUE(fit);
    expect_around(fit->serial, s);
    EXPECT_NEAR(fit->ns(8), one_ns * weak(8), 0.02 * one_ns * weak(8));
    EXPECT_NEAR(fit->speedup(32), 32 - s * 31, 0.02 * 32);
  }
}

TEST(ScalingFit, TheUslHasItsPeakWhereTheTimesAreLeast) {
  const double a = 0.03, b = 0.002, peak = std::sqrt((1 - a) / b);
  const std::vector<double> counts{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48};
  const auto fit = fit_scaling(scaling_law::usl, times_of(counts, usl(a, b)));
  ASSERT_TRUE(fit && fit->peak);
  expect_around(fit->serial, a);
  expect_around(fit->coherency, b);
  expect_around(*fit->peak, peak);
  EXPECT_LT(fit->ns(fit->peak->median), fit->ns(0.9 * fit->peak->median));
  EXPECT_LT(fit->ns(fit->peak->median), fit->ns(1.1 * fit->peak->median));
}

TEST(ScalingFit, WhatOnlyLosesIsFastestOnOne) {
  const auto fit = fit_scaling(scaling_law::usl, times_of(many, [](double p) { return 1 + 0.1 * (p - 1); }));
  ASSERT_TRUE(fit && fit->peak);
  EXPECT_EQ(fit->peak->median, 1);
}

TEST(ScalingFit, TheLawThatHoldsPredictsBest) {
  const auto rising = times_of({1, 2, 3, 4, 6, 8, 12, 16, 24, 32}, usl(0.03, 0.01));
  EXPECT_LT(fit_scaling(scaling_law::usl, rising)->prediction_error,
            fit_scaling(scaling_law::amdahl, rising)->prediction_error);
  const auto none = fit_scaling(scaling_law::usl, times_of(many, amdahl(0.1), 0));
  EXPECT_NEAR(none->coherency.median, 0, 1e-9);
}

TEST(ScalingFit, FewPointsHaveNoFit) {
  const auto first = [](std::size_t n) { return times_of({many.begin(), many.begin() + n}, usl(0.1, 0.01)); };
  EXPECT_FALSE(fit_scaling(scaling_law::amdahl, first(3)));
  EXPECT_TRUE(fit_scaling(scaling_law::amdahl, first(4)));
  EXPECT_FALSE(fit_scaling(scaling_law::gustafson, first(3)));
  EXPECT_TRUE(fit_scaling(scaling_law::gustafson, first(4)));
  EXPECT_FALSE(fit_scaling(scaling_law::usl, first(5)));
  EXPECT_TRUE(fit_scaling(scaling_law::usl, first(6)));
}

TEST(ScalingFit, ALawThatMissesThePointsHasAWiderInterval) {
  const auto width = [](const scaling_fit& f) { return *f.serial.high - *f.serial.low; };
  const auto close = fit_scaling(scaling_law::amdahl, times_of(many, amdahl(0.1)));
  const auto missing = fit_scaling(scaling_law::amdahl, times_of(many, amdahl(0.1), 10 * error));
  EXPECT_GT(width(*missing), 5 * width(*close));
}

TEST(ScalingFit, AnUncertainTimeWeighsLess) {
  std::vector<timed_point> points = times_of(many, amdahl(0.1), 0);
  points[3].ns *= 2;
  points[3].error = 10;
  EXPECT_NEAR(fit_scaling(scaling_law::amdahl, points)->serial.median, 0.1, 0.001);
}

TEST(ScalingFit, EqualTimesHaveEqualFits) {
  const auto points = times_of(many, usl(0.03, 0.002));
  const auto a = fit_scaling(scaling_law::usl, points), b = fit_scaling(scaling_law::usl, points);
  EXPECT_EQ(*a->serial.low, *b->serial.low);
  EXPECT_EQ(*a->peak->high, *b->peak->high);
}

TEST(ScalingFit, KarpAndFlattsFractionIsTheFormulas) {
  // S = 3 with p = 4: (1/3 - 1/4) / (3/4) = 1/9. S = 2.5: 0.2. S = 3.2: 1/12.
  const interval e = karp_flatt({3, 2.5, 3.2}, 4);
  EXPECT_DOUBLE_EQ(e.median, 1.0 / 9);
  EXPECT_NEAR(*e.low, 1.0 / 12, 1e-15);
  EXPECT_NEAR(*e.high, 0.2, 1e-15);
  EXPECT_LT(karp_flatt({4.5, {}, {}}, 4).median, 0) << "more than p times as fast";
  EXPECT_FALSE(karp_flatt({4.5, {}, {}}, 4).low);
}

}  // namespace
}  // namespace tilewise::report
