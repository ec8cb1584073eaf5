// SPDX-License-Identifier: Apache-2.0
// What a record has of made-up samples, and what these say of two rows.
#include "lab/derive.hpp"
#include "lab/describe.hpp"
#include "lab/statistics.hpp"
#include "planted_variant.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(c.samples_ns, ns);
}

TEST(LabMeasured, TwoVisitsAreOneClockWithTheReasonOfTheOneThatWasNotPrecise) {
  const auto visited = [](double ns, std::uint64_t calls, stop_reason why) {
    return clock_of(series{.calls_per_sample = calls, .ns = std::vector<double>(20, ns), .reason = why, .failure = {}});
  };
  record::clock few = visited(30, 8, stop_reason::max_time);
  few.samples_ns.resize(1);
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

/// Three rows of made-up times: of ten, twenty and forty nanoseconds, the last with another tuning than its default.
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

}  // namespace
}  // namespace tilewise::lab
