// SPDX-License-Identifier: Apache-2.0
// What a record contains for made-up samples, and how two rows are compared.
#include "lab/bench/derive.hpp"
#include "lab/bench/describe.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/time/statistics.hpp"
#include "planted_variant.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace tilewise::lab {
namespace {

TEST(LabMeasured, ARecordHasEachFigureOfItsSamplesByHand) {
  const std::vector<double> ns{9, 1, 5, 3, 7, 2, 8, 4, 6, 100};
  const record::clock c =
      clock_of(series{.calls_per_sample = 4, .ns = ns, .reason = stop_reason::max_time, .failure = {}});
  EXPECT_EQ(c.n, 10u);
  EXPECT_EQ(c.calls_per_sample, 4u);
  EXPECT_EQ(c.median_ns, 5.5);
  EXPECT_EQ(c.ci95_lo_ns, 2);
  EXPECT_EQ(c.ci95_hi_ns, 9);
  EXPECT_EQ(c.min_ns, 1);
  EXPECT_EQ(c.max_ns, 100);
  EXPECT_EQ(c.q1_ns, 3.25);
  EXPECT_EQ(c.q3_ns, 7.75);
  EXPECT_EQ(c.mad_ns, 2.5);
  EXPECT_EQ(c.mean_ns, 14.5);
  EXPECT_EQ(c.outliers, 1u);
  EXPECT_EQ(c.stop_reason, "max_time");
  EXPECT_EQ(*c.samples_ns, ns);
}

TEST(LabMeasured, TwoVisitsAreOneClockWithTheReasonOfTheOneThatWasNotPrecise) {
  const auto visited = [](double ns, std::uint64_t calls, stop_reason why) {
    return clock_of(series{.calls_per_sample = calls, .ns = std::vector<double>(20, ns), .reason = why, .failure = {}});
  };
  record::clock few = visited(30, 8, stop_reason::max_time);
  few.samples_ns->resize(1);
  few.n = 1;
  const record::clock both = joined(visited(10, 4, stop_reason::precision), few);
  EXPECT_EQ(both.median_ns, 10);
  EXPECT_EQ(both.ci95_hi_ns, 30) << "the second visit's median";
  EXPECT_EQ(both.calls_per_sample, 8u);
  EXPECT_EQ(both.stop_reason, "max_time");
  const record::clock other_way = joined(few, visited(10, 4, stop_reason::precision));
  EXPECT_EQ(other_way.calls_per_sample, 8u);
  EXPECT_EQ(other_way.stop_reason, "max_time");
}

measured taking(const group& g, const row& r, const std::vector<double>& ns) {
  measured m = describe(g, r, {});
  m.result.timing.emplace().kernel = clock_of(series{.ns = ns, .failure = {}});
  return m;
}

/// Three rows with made-up times of ten, twenty and forty nanoseconds. The last one has another tuning than its
/// default.
TEST(LabDerive, ARatioIsOfAnothersTimeOverTheRowsOwnAndNamesThatOther) {
  static constexpr std::array<unsigned, 2> widths{64, 128};
  static constexpr std::array<registry::tuning_axis, 1> axes{{{"width", widths, 64}}};
  registry::variant plain = tests::planted_variant("scan", "plain", nullptr), tuned = plain;
  tuned.name = "tuned";
  tuned.tuning = axes;
  const auto serial = backend::find_device("cpu:serial", {}), threads = backend::find_device("cpu:threads", {});
  const group g{{.what = &registry::find_algorithm("scan"), .shape = {1000}},
                "cpu",
                {{&plain, serial}, {&tuned, threads, {{64}}}, {&tuned, threads, {{128}}}}};
  std::vector<measured> rows;
  for (const row& r : g.rows) {
    measured& m = rows.emplace_back(describe(g, r, {}));
    const double ns = std::vector{10.0, 20.0, 40.0}[rows.size() - 1];
    m.result.timing.emplace().kernel = clock_of(series{.ns = std::vector<double>(6, ns), .failure = {}});
  }
  derive(g, rows);
  const auto told = [&](std::size_t i) {
    std::string text;
    for (const record::ratio& r : rows[i].result.ratios)
      text += r.to + " " + r.device + " " + r.tuning + " " + std::to_string(*r.median) + ";";
    return text;
  };
  EXPECT_EQ(told(0), "scan/cpu:tuned cpu:threads width=64 2.000000;") << "none of another tuning than the default";
  EXPECT_EQ(told(1), "scan/cpu:plain cpu:serial  0.500000;");
  EXPECT_EQ(told(2), "scan/cpu:plain cpu:serial  0.250000;scan/cpu:tuned cpu:threads width=64 0.500000;");
  EXPECT_DOUBLE_EQ(*rows[0].result.derived->elements_per_s, 1000 / 10e-9);
}

TEST(LabDerive, RowsThatShareANameHaveNoRatioToThem) {
  const registry::variant plain = tests::planted_variant("scan", "plain", nullptr),
                          other = tests::planted_variant("scan", "other", nullptr);
  const auto serial = backend::find_device("cpu:serial", {}), threads = backend::find_device("cpu:threads", {});
  const group g{{.what = &registry::find_algorithm("scan"), .shape = {1000}},
                "cpu",
                {{&plain, serial}, {&other, threads}, {&other, threads}}};  // as with two numbers of threads
  std::vector<measured> rows;
  for (const row& r : g.rows) rows.push_back(taking(g, r, std::vector<double>(6, 10)));
  derive(g, rows);
  EXPECT_TRUE(rows[0].result.ratios.empty());
  EXPECT_EQ(rows[1].result.ratios.size(), 1u);
}

/// A convolution beside a copy and multiply-adds that take a second each, with this many operations.
struct beside_limits {
  registry::variant ours = tests::planted_variant("convolve", "ours", nullptr);
  group all{{.what = &registry::find_algorithm("convolve"), .type = dtype::f64, .shape = {96, 96, 31, 31}}, "cpu", {}};
  std::vector<measured> rows;  // ours, the copy, the multiply-adds

  beside_limits(const std::vector<double>& ours_ns, double operations_of_limit) {
    const auto on = backend::find_device("cpu:serial", {});
    all.rows = {{&ours, on}};
    for (const registry::variant* limit : limits_of(all.problem, "cpu")) all.rows.push_back({limit, on});
    std::vector<double> limit_ns(10, 1e9);
    limit_ns.front() = 0.98e9, limit_ns.back() = 1.02e9;
    for (const row& r : all.rows) rows.push_back(taking(all, r, rows.empty() ? ours_ns : limit_ns));
    rows[2].result.what.operations = operations_of_limit;
    derive(all, rows);
  }
  const record::rates& of(std::size_t i) const { return *rows[i].result.derived; }
  double operations() const { return rows[0].result.what.operations; }
};

TEST(LabDerive, WhatBoundsARowIsTheLimitThatNeedsLongerByItsMedian) {
  for (const double share : {0.001, 1000.0}) {
    const std::vector<double> four_seconds(10, 4e9);
    const double operations = share * beside_limits(four_seconds, 1).operations();
    const beside_limits found(four_seconds, operations);
    ASSERT_EQ(found.rows.size(), 3u);
    const bool computes = share < 1;  // the multiply-adds of a second are few
    const double copied = found.rows[1].result.what.bytes_min, ours = found.rows[0].result.what.bytes_min;
    EXPECT_DOUBLE_EQ(*found.of(0).ceiling_bytes_per_s, copied);
    EXPECT_DOUBLE_EQ(**found.of(0).ceiling_operations_per_s, operations);
    EXPECT_EQ(found.of(0).bound_by, computes ? ceiling::muladd : ceiling::copy);
    EXPECT_DOUBLE_EQ(*found.of(0).fraction_of_ceiling,
                     (computes ? found.operations() / operations : ours / copied) / 4);
    EXPECT_EQ(found.of(1).bound_by, ceiling::copy) << "a limit is held against itself";
    EXPECT_EQ(found.of(2).bound_by, ceiling::muladd);
    for (const std::size_t limit : {1, 2}) EXPECT_DOUBLE_EQ(*found.of(limit).fraction_of_ceiling, 1);
    EXPECT_DOUBLE_EQ(*found.of(2).bytes_per_s, operations * ours / found.operations()) << "what they would suffice for";
  }
}

TEST(LabDerive, ATimeIsImpossibleOnlyIfAllOfItsIntervalIs) {
  const double operations = beside_limits({1e9}, 1).operations();
  const auto is_plausible = [&](double from_s, double to_s, double share) {
    std::vector<double> ns;
    for (int i = 0; i < 10; ++i) ns.push_back((i < 5 ? from_s : to_s) * 1e12);
    return beside_limits(ns, share * operations / 1000).of(0).plausible;  // so that the copy is no limit
  };
  EXPECT_FALSE(is_plausible(0.8, 0.8, 1));
  EXPECT_TRUE(is_plausible(0.8, 1, 1)) << "at the longer end it is possible";
  EXPECT_TRUE(is_plausible(0.6, 0.6, 2)) << "of half the work";
  EXPECT_FALSE(is_plausible(1.2, 1.2, 0.5)) << "of twice the work";
}

TEST(LabDerive, AJobIsHeldAgainstTheLinkOfItsDeviceAndAgainstFiles) {
  const registry::variant ours = tests::planted_variant("scan", "ours", nullptr);
  const auto serial = backend::find_device("cpu:serial", {}), threads = backend::find_device("cpu:threads", {});
  const registry::problem scan{.what = &registry::find_algorithm("scan"), .shape = {1000}};
  for (const bool of_files : {false, true})
    for (const bool same_device : {false, true}) {
      const group g{scan, "cpu", {{&ours, serial}, {&limit_of_job(of_files), same_device ? serial : threads}}};
      std::vector<measured> rows;
      for (const row& r : g.rows) {
        measured& m = rows.emplace_back(taking(g, r, std::vector<double>(6, 1e9)));
        m.result.timing->end_to_end = std::exchange(m.result.timing->kernel, std::nullopt);
      }
      derive(g, rows);
      EXPECT_EQ(rows[0].result.derived->bound_by.has_value(), of_files || same_device) << of_files << same_device;
    }
}

TEST(LabDerive, AKernelIsTooLongForItsRoundTripOnlyWithAllOfItsInterval) {
  const registry::variant ours = tests::planted_variant("scan", "ours", nullptr);
  const group g{{.what = &registry::find_algorithm("scan"), .shape = {1000}},
                "cpu",
                {{&ours, backend::find_device("cpu:serial", {})}}};
  const auto is_plausible = [&](const std::vector<double>& kernel, const std::vector<double>& round_trip) {
    std::vector<measured> rows{taking(g, g.rows[0], kernel)};
    rows[0].result.timing->round_trip = clock_of(series{.ns = round_trip, .failure = {}});
    derive(g, rows);
    hold_against_round_trip(rows[0]);
    EXPECT_EQ(rows[0].result.derived->plausible, !rows[0].result.reason);
    return rows[0].result.derived->plausible;
  };
  const std::vector<double> ten(10, 10), nine(10, 9);
  EXPECT_FALSE(is_plausible(ten, nine));
  EXPECT_TRUE(is_plausible(nine, ten));
  EXPECT_TRUE(is_plausible({8, 8, 8, 8, 8, 12, 12, 12, 12, 12}, nine)) << "from 8 on";
  EXPECT_TRUE(is_plausible(ten, {8, 8, 8, 8, 8, 12, 12, 12, 12, 12})) << "up to 12";
}

}  // namespace
}  // namespace tilewise::lab
