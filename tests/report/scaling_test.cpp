// SPDX-License-Identifier: Apache-2.0
// Curves over threads and ranks: which records belong to one curve, what is compared with what, and the page's section.
#include "report/scale/scaling.hpp"
#include "page.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tilewise::report {
namespace {

using nlohmann::json;

/// A made-up record of scan with these threads, size and time. Its intervals are ±1 %.
json scan_record(const std::string& variant, const std::string& device, json threads, std::uint64_t n, double ns) {
  static const json made_up = made_up_records().front();
  json r = made_up;
  r["case"]["variant"] = variant;
  r["case"]["backend"] = variant == "scan/serial" ? "serial" : variant == "scan/group" ? "group" : "cpu";
  r["case"]["threads"] = std::move(threads);
  r["case"]["n"] = n;
  r["case"]["shape"] = {n};
  r["case"]["peer"] = false;
  r["case"]["group"] = "scan n=" + std::to_string(n);
  r["device"]["name"] = device;
  r["device"]["backend"] = device.substr(0, device.find(':'));
  json& kernel = r["timing"]["kernel"];
  kernel["median_ns"] = ns;
  kernel["ci95_lo_ns"] = ns * 0.995;
  kernel["ci95_hi_ns"] = ns * 1.005;
  return r;
}

constexpr std::uint64_t n = 1 << 24;

json on_threads(unsigned p, double ns, std::uint64_t size = n) {
  return scan_record("scan/cpu", "cpu:threads", p, size, ns);
}
json on_ranks(const std::string& device, unsigned p, const std::string& transport, double ns) {
  json r = scan_record("scan/group", device, nullptr, n, ns);
  r["ranks"] = {{"count", p},
                {"transport", transport},
                {"sent_bytes", 64},
                {"exchanges", 1},
                {"exchange_ns", ns / 8},
                {"latency_ns", nullptr},
                {"link_bytes_per_s", nullptr}};
  return r;
}

std::vector<scaling_curve> curves(const row_table& rows, scaling_kind kind = scaling_kind::strong) {
  std::vector<const row*> all;
  for (const row& r : rows) all.push_back(&r);
  return scaling_curves(all, kind);
}

/// Amdahl's times with a serial part of a tenth.
double amdahl_ns(unsigned p) { return 1e7 * (0.1 + 0.9 / p); }

std::vector<json> threads_of_amdahl() {
  std::vector<json> records{scan_record("scan/cpu", "cpu:serial", 1u, n, 9e6),
                            scan_record("scan/serial", "cpu:serial", 1u, n, 5e7)};
  for (const unsigned p : {1, 2, 4, 8}) records.push_back(on_threads(p, amdahl_ns(p)));
  return records;
}

TEST(Scaling, SpeedupsEfficiencyAndCostAreThoseOfBothBaselines) {
  const row_table rows(typed(threads_of_amdahl()));
  const auto found = curves(rows);
  ASSERT_EQ(found.size(), 1u);
  const scaling_curve& c = found.front();
  EXPECT_EQ(c.processors, "cpu:threads");
  ASSERT_NE(c.best, nullptr);
  EXPECT_EQ(c.best->kernel->median, 9e6) << "the fastest on cpu:serial, not the definition";
  ASSERT_EQ(c.points.size(), 4u);
  const scaling_point& four = c.points[2];
  EXPECT_EQ(four.p, 4u);
  const double speedup = 1e7 / amdahl_ns(4);
  EXPECT_DOUBLE_EQ(four.over_one->median, speedup);
  EXPECT_NEAR(*four.over_one->low, speedup * 0.995 / 1.005, 1e-9);
  EXPECT_DOUBLE_EQ(four.over_best->median, 9e6 / amdahl_ns(4));
  EXPECT_DOUBLE_EQ(four.efficiency->median, speedup / 4);
  EXPECT_DOUBLE_EQ(four.cost->median, 4 * amdahl_ns(4) / 9e6);
  EXPECT_NEAR(four.serial_fraction->median, 0.1, 1e-9);
  EXPECT_FALSE(c.points[0].serial_fraction);
  ASSERT_NE(c.fit(scaling_law::amdahl), nullptr);
  EXPECT_NEAR(c.fit(scaling_law::amdahl)->serial.median, 0.1, 1e-6);
  EXPECT_EQ(c.fit(scaling_law::usl), nullptr) << "four points";
  EXPECT_EQ(cost_finding(c),
            "The cost p T(p) is 1.11 to 1.89 times the work of the best program for one: it grows with p, so not "
            "work-optimal here.");
  EXPECT_NE(karp_flatt_finding(c).find("flat"), std::string::npos);
  EXPECT_NE(extrapolation_finding(c).find("p = 16 would be 6.40 times as fast as one; that was not measured"),
            std::string::npos)
      << extrapolation_finding(c);
}

TEST(Scaling, ACostWithinAConstantIsWorkOptimal) {
  const row_table rows(typed({scan_record("scan/cpu", "cpu:serial", 1u, n, 1e7), on_threads(1, 2e7),
                              on_threads(2, 1.1e7), on_threads(4, 0.55e7)}));
  EXPECT_NE(cost_finding(curves(rows).front()).find("2.00 to 2.20 times the work"), std::string::npos);
  EXPECT_NE(cost_finding(curves(rows).front()).find("so work-optimal as far as measured"), std::string::npos);
}

TEST(Scaling, OfACostWithWideIntervalsNothingIsSaid) {
  std::vector<json> records = threads_of_amdahl();
  for (json& r : records) {
    json& kernel = r["timing"]["kernel"];
    kernel["ci95_lo_ns"] = 0.1 * kernel["median_ns"].get<double>();
    kernel["ci95_hi_ns"] = 3.1 * kernel["median_ns"].get<double>();
  }
  const row_table rows(typed(records));
  const std::string said = cost_finding(curves(rows).front());
  EXPECT_NE(said.find("; its intervals are too wide to say whether it grows with p."), said.npos) << said;
}

TEST(Scaling, ATimeWithoutAnIntervalIsNotFitted) {
  std::vector<json> records = threads_of_amdahl();
  records.back()["timing"]["kernel"]["ci95_lo_ns"] = nullptr;
  const row_table rows(typed(records));
  EXPECT_EQ(curves(rows).front().points.size(), 4u);
  EXPECT_TRUE(curves(rows).front().fits.empty());
}

TEST(Scaling, ThreadsThatTakeTurnsAreNotFitted) {
  std::vector<json> records = threads_of_amdahl();
  for (json& r : records) r["host"]["threads"] = 4u;
  records.push_back(on_threads(3, amdahl_ns(3)));
  const row_table rows(typed(records));
  const scaling_curve c = curves(rows).front();
  EXPECT_EQ(c.points.size(), 5u);
  EXPECT_EQ(c.last_fitted(), 4u);
  ASSERT_NE(c.fit(scaling_law::amdahl), nullptr);
  EXPECT_NE(extrapolation_finding(c).find("p = 8 would"), std::string::npos);
  EXPECT_EQ(crowding_finding(c),
            "The machine has 4 processors: beyond that, threads take turns and say nothing of the program.");
  EXPECT_NE(cost_finding(c).find("1.11 to 1.44 times"), std::string::npos) << "not that of 8: " << cost_finding(c);
  for (json& r : records) r["host"]["threads"] = 2u;
  const row_table crowded(typed(records));
  EXPECT_TRUE(curves(crowded).front().fits.empty());
}

TEST(Scaling, WorkThatGrowsIsCounted) {
  std::vector<json> records{scan_record("scan/cpu", "cpu:serial", 1u, n, 9e6)};
  for (const unsigned p : {1, 2, 4, 8}) records.push_back(on_threads(p, 1e7 * p / (p - 0.2 * (p - 1)), n * p));
  const row_table rows(typed(records));
  EXPECT_TRUE(curves(rows).empty());
  const auto found = curves(rows, scaling_kind::weak);
  ASSERT_EQ(found.size(), 1u);
  const scaling_point& eight = found.front().points.back();
  EXPECT_NEAR(eight.over_one->median, 8 - 0.2 * 7, 1e-9);
  EXPECT_NEAR(eight.over_best->median, 0.9 * (8 - 0.2 * 7), 1e-9);
  EXPECT_NEAR(eight.cost->median, 8 / (0.9 * (8 - 0.2 * 7)), 1e-9);
  EXPECT_FALSE(eight.serial_fraction) << "it is Amdahl's";
  ASSERT_EQ(found.front().fits.size(), 1u);
  EXPECT_NEAR(found.front().fit(scaling_law::gustafson)->serial.median, 0.2, 1e-6);
}

TEST(Scaling, MoreThanPTimesAsFastIsNoted) {
  const auto noted = [](double ns) {
    const row_table rows(typed({on_threads(1, 1e7), on_threads(2, ns)}));
    return curves(rows).front().points.back().is_superlinear;
  };
  EXPECT_TRUE(noted(4e6));
  EXPECT_FALSE(noted(4.95e6)) << "within the noise";
  EXPECT_FALSE(noted(6e6));
  const row_table rows(typed({on_threads(1, 1e7), on_threads(2, 4e6)}));
  EXPECT_EQ(superlinear_finding(curves(rows).front()).substr(0, 6), "cache:");
}

TEST(Scaling, RanksAreThoseOfOneKindAndTransport) {
  const row_table rows(
      typed({on_ranks("1*cpu:serial", 1, "threads", 8e6), on_ranks("2*cpu:serial", 2, "threads", 4e6),
             on_ranks("2*mpi:cpu:serial", 2, "Open MPI 4", 4e6), on_ranks("4*mpi:cpu:serial", 4, "Open MPI 4", 2e6),
             on_ranks("cuda:*", 2, "threads", 4e5), on_ranks("cuda:0+cuda:1+cuda:3", 3, "threads", 3e5),
             on_ranks("cuda:0+cpu:serial", 2, "threads", 3e5), scan_record("scan/cpu", "cpu:serial", 1u, n, 7e6)}));
  const auto found = curves(rows);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].processors, "cpu:serial");
  ASSERT_NE(found[0].best, nullptr);
  EXPECT_EQ(found[0].best->kernel->median, 7e6);
  ASSERT_EQ(found[0].points.size(), 2u);
  EXPECT_EQ(found[0].points[1].what->kernel->median, 4e6) << "not that of members of two kinds";
  EXPECT_DOUBLE_EQ(*found[0].points[1].exchange, 1.0 / 8);
  EXPECT_EQ(found[1].processors, "cpu:serial, Open MPI 4");
  EXPECT_FALSE(found[1].points[0].over_one) << "there is none with p = 1";
  EXPECT_TRUE(found[1].points[0].over_best);
  EXPECT_EQ(found[2].processors, "cuda");
  EXPECT_EQ(found[2].points.size(), 2u);
  EXPECT_EQ(found[2].best, nullptr);
}

TEST(Scaling, RanksThatWereMeasuredWithOneNumberAreHeldAgainstOneDevice) {
  const json two = on_ranks("cuda:0+cuda:1", 2, "threads", 4e6);
  const row_table alone(typed({two, on_threads(2, 5e6)})),
      with_one(typed({two, scan_record("scan/cuda:lookback", "cuda:0", nullptr, n, 7e6)}));
  EXPECT_TRUE(curves(alone).empty());
  const auto found = curves(with_one);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_DOUBLE_EQ(found.front().points.front().over_best->median, 7.0 / 4);
  EXPECT_EQ(cost_finding(found.front()), "The cost p T(p) is 1.14 times the work of the best program for one.");
}

TEST(Scaling, OnlyRightTimesOfOneProblemCount) {
  json wrong = on_threads(4, 1e6), implausible = on_threads(8, 1e5), other = on_threads(2, 1e6, n / 2);
  wrong["verify"]["ok"] = false;
  implausible["derived"]["plausible"] = false;
  const row_table rows(typed({on_threads(1, 1e7), wrong, implausible, other, on_threads(2, 6e6), on_threads(2, 5e6)}));
  const auto found = curves(rows);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found.front().points.size(), 2u);
  EXPECT_EQ(found.front().points.back().what->kernel->median, 5e6) << "the last measurement";
}

/// Takes minutes if each curve is compared with all rows.
TEST(Scaling, ManyCurvesEachHaveTheirBest) {
  constexpr std::uint64_t sizes = 20'000;
  row_table rows;
  record::results made =
      typed({on_threads(1, 1e7), on_threads(2, 6e6), scan_record("scan/cpu", "cpu:serial", 1, n, 1)});
  for (std::uint64_t size = 1; size <= sizes; ++size)
    for (record::result& r : made) {
      r.what.n = size;
      r.what.shape = {size};
      if (r.device.name == "cpu:serial") r.timing->kernel->median_ns = static_cast<double>(size);
      rows.add(r);
    }
  const auto found = curves(rows);
  ASSERT_EQ(found.size(), sizes);
  for (std::uint64_t size = 1; size <= sizes; ++size) {
    ASSERT_NE(found[size - 1].best, nullptr) << size;
    ASSERT_EQ(found[size - 1].best->kernel->median, static_cast<double>(size));
  }
}

TEST(Scaling, ThePageHasASectionFromThreePointsOn) {
  std::vector<json> records = threads_of_amdahl();
  const std::string page = page_of(records), body = body_of(page);
  EXPECT_EQ(times_in(body, "<h4>Scaling</h4>"), 1u);
  EXPECT_NE(body.find("Amdahl: serial part 10 % ("), std::string::npos);
  json scaling;
  for (const json& chart : charts_of(page))
    if (chart.value("counts", "") == "p") scaling = chart;
  ASSERT_EQ(scaling["lines"].size(), 3u) << scaling;
  EXPECT_EQ(scaling["lines"][0]["points"].back()[0], 8);
  EXPECT_EQ(scaling["lines"][1]["points"].back()[0], 16) << "the law goes to twice the last p";
  EXPECT_EQ(scaling["lines"][2]["points"].back()[1], 8) << "the ideal";
  records.resize(4);
  EXPECT_EQ(body_of(page_of(records)).find("<h4>Scaling</h4>"), std::string::npos) << "two points";
}

TEST(Scaling, TheLecturesChapterHasTheLaws) {
  std::vector<json> records = threads_of_amdahl();
  const auto chapters = [&] { return body_of(page_of(records)); };
  json of_document = records.back();
  of_document["case"]["group"] = "scan of a document";
  of_document["experiment"] = {{"document", "A. Author, lecture 6"},
                               {"baseline", "scan/serial"},
                               {"baseline_device", "cpu:serial"},
                               {"first_outputs", ""},
                               {"published", json::array()}};
  records.push_back(of_document);
  for (const unsigned p : {2, 4, 8}) records.push_back(on_threads(p, 1e7 * (0.1 + 0.9 * p) / p * p / p, n * p));
  const std::string page = chapters();
  EXPECT_NE(page.find("How programs scale on this machine"), std::string::npos);
  EXPECT_NE(page.find("Amdahl: the same work on more processors"), std::string::npos);
  EXPECT_NE(page.find("Amdahl: serial part 10"), std::string::npos);
  EXPECT_NE(page.find("Gustafson: more processors, more work"), std::string::npos);
  records[records.size() - 4]["experiment"]["document"] = "A. Author, a paper";
  EXPECT_EQ(chapters().find("How programs scale on this machine"), std::string::npos);
}

}  // namespace
}  // namespace tilewise::report
