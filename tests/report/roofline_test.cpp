// SPDX-License-Identifier: Apache-2.0
// The roofline model: levels of memory in made-up measurements with a known answer, limits by hand, and the page's
// charts.
#include "report/roofline/roofline.hpp"
#include "lab/roofline/measure.hpp"
#include "page.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tilewise::report {
namespace {

using nlohmann::json;

constexpr double KiB = 1024, MiB = 1024 * KiB;

/// A variation of up to 3 % in both directions, the same in each run.
double wobble(int i) { return 1 + 0.03 * std::sin(12.9898 * i + 78.233); }

struct level {
  double to, bytes_per_s;
};

/// Four sizes for each doubling, from 8 KiB to 256 MiB. Beyond a level the speed falls over one doubling.
std::vector<reading> sweep(const std::vector<level>& levels) {
  std::vector<reading> all;
  for (int quarter = 0; quarter <= 60; ++quarter) {
    const double bytes = 8 * KiB * std::exp2(quarter / 4.0);
    double speed = levels.front().bytes_per_s;
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
      const double beyond = std::clamp(std::log2(bytes / levels[i].to), 0.0, 1.0);
      speed *= std::pow(levels[i + 1].bytes_per_s / levels[i].bytes_per_s, beyond);
    }
    all.push_back({bytes, speed * wobble(quarter)});
  }
  return all;
}

TEST(RooflineLevels, ThoseOfASweepWithNoiseAreFound) {
  const std::vector<level> real{{64 * KiB, 150e9}, {1 * MiB, 80e9}, {16 * MiB, 40e9}, {1e9, 12e9}};
  const auto found = levels_of(sweep(real));
  ASSERT_EQ(found.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i].bytes_per_s / real[i].bytes_per_s, 1, 0.05) << i;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(std::log2(found[i].to / real[i].to), 0, 0.51) << i;
  EXPECT_EQ(found.back().to, 256 * MiB);
}

TEST(RooflineLevels, OneSpeedIsOneLevelAndASlopeIsNone) {
  const auto one = levels_of(sweep({{64 * KiB, 30e9}}));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_NEAR(one.front().bytes_per_s, 30e9, 1e9);
  std::vector<reading> slope;
  for (int quarter = 0; quarter < 40; ++quarter)
    slope.push_back({8 * KiB * std::exp2(quarter / 4.0), 1e12 * std::exp2(-quarter / 8.0)});
  EXPECT_TRUE(levels_of(slope).empty());
  EXPECT_TRUE(levels_of({}).empty());
}

TEST(RooflineLevels, WhatIsSlowForItsCallsAndALoneOutlierAreNoLevels) {
  std::vector<reading> readings = sweep({{1 * MiB, 80e9}, {1e9, 20e9}});
  for (std::size_t i = 0; i < 6; ++i) readings[i].bytes_per_s = 10e9;
  readings[20].bytes_per_s = 30e9;
  const auto found = levels_of(readings);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0].bytes_per_s, 80e9, 4e9);
  EXPECT_NEAR(found[1].bytes_per_s, 20e9, 1e9);
}

TEST(RooflineLevels, AWorkingSetHasTheSpeedOfItsLevel) {
  const std::vector<reading> readings = sweep({{1 * MiB, 80e9}, {1e9, 20e9}});
  const auto levels = levels_of(readings);
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(speed_for(100, readings, levels), levels[0].bytes_per_s) << "smaller than all";
  EXPECT_EQ(speed_for(300 * KiB, readings, levels), levels[0].bytes_per_s);
  EXPECT_EQ(speed_for(64 * MiB, readings, levels), levels[1].bytes_per_s);
  EXPECT_EQ(speed_for(1e12, readings, levels), readings.back().bytes_per_s) << "larger than all";
  const double between = speed_for(1.5 * MiB, readings, levels);
  EXPECT_GT(between, levels[1].bytes_per_s);
  EXPECT_LT(between, levels[0].bytes_per_s);
  EXPECT_LT(speed_for(64 * MiB, readings, std::span(levels).first(1)), 21e9) << "a level that was not found";
}

TEST(RooflineLevels, WorkingSetsGoFromWhatKeepsTheDeviceBusyToFourTimesItsCache) {
  device_info on;
  on.is_cpu = true;
  on.memory = std::uint64_t{8} << 30;
  on.cache = 1 << 20;
  const auto sizes = lab::working_sets(on, 8192);
  EXPECT_EQ(sizes.front(), 8192u);
  EXPECT_EQ(sizes.back(), 4u << 20);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    EXPECT_LT(sizes[i - 1], sizes[i]);
    EXPECT_EQ(sizes[i] % 4096, 0u);
    EXPECT_LE(sizes[i], 2 * sizes[i - 1]);
  }
  on.memory = 2 << 20;
  EXPECT_LE(lab::working_sets(on, 8192).back(), 512u << 10) << "a quarter of memory";
}

/// The levels that a device with a last-level cache of 50 MiB shows, whatever size it reports.
std::vector<memory_level> levels_with_50_MiB(const device_info& on) {
  std::vector<reading> readings;
  for (const std::uint64_t size : lab::working_sets(on, 1 << 20)) {
    const double beyond = std::clamp(std::log2(static_cast<double>(size) / (50 * MiB)), 0.0, 1.0);
    readings.push_back({static_cast<double>(size), 8e12 * std::exp2(-beyond)});
  }
  return levels_of(readings);
}

TEST(RooflineLevels, TheMemoryOfAGpuIsFoundWhateverItSaysOfItsCaches) {
  device_info on;
  on.memory = std::uint64_t{140} << 30;
  for (const std::uint64_t told : {0, 4, 50}) {
    on.cache = told << 20;
    const auto found = levels_with_50_MiB(on);
    ASSERT_EQ(found.size(), 2u) << told;
    EXPECT_NEAR(found.back().bytes_per_s, 4e12, 1e11) << told;
    EXPECT_EQ(found.back().to, 1024 * MiB) << told;
  }
  on.is_cpu = true;  // where the system says it
  on.cache = 4 << 20;
  EXPECT_EQ(lab::working_sets(on, 1 << 20).back(), 16u << 20);
}

/// A made-up case of `bytes` and `operations` that takes `ns`, or a limit. Its intervals are ±1 %.
json case_of(const std::string& variant, double bytes, double operations, double ns, const std::string& dtype = "f32",
             std::uint64_t n = 1000) {
  static const json made_up = made_up_records().front();
  json r = made_up;
  const std::string algorithm = variant.substr(0, variant.find('/'));
  r["case"]["algorithm"] = algorithm;
  r["case"]["variant"] = variant;
  r["case"]["backend"] = "cpu";
  r["case"]["peer"] = false;
  r["case"]["order"] = "tilewise";
  r["case"]["dtype"] = dtype;
  r["case"]["n"] = n;
  r["case"]["shape"] = {n};
  r["case"]["settings"] = json::object();
  r["case"]["group"] = "a group of " + dtype + std::to_string(n);
  r["case"]["bytes_min"] = bytes;
  r["case"]["operations"] = operations;
  r["device"]["name"] = "cpu:threads";
  r["device"]["backend"] = "cpu";
  r["timing"]["kernel"]["median_ns"] = ns;
  r["timing"]["kernel"]["ci95_lo_ns"] = ns * 0.99;
  r["timing"]["kernel"]["ci95_hi_ns"] = ns * 1.01;
  r["derived"] = {{"bytes_per_s", bytes / ns * 1e9}, {"operations_per_s", operations / ns * 1e9}, {"plausible", true}};
  return r;
}

/// Reads of two levels: 100 GB/s up to 1 MiB, 20 GB/s beyond.
std::vector<json> readings() {
  std::vector<json> all;
  for (const reading& r : sweep({{1 * MiB, 100e9}, {1e9, 20e9}})) {
    const auto n = static_cast<std::uint64_t>(r.bytes);
    all.push_back(case_of("read/cpu", 1e9, 0, 1e9 / r.bytes_per_s * 1e9, "u64", n));
    all.back()["case"]["group"] = "read " + std::to_string(n);
  }
  return all;
}

/// The roofline of the only device, with the rows that it points to.
struct analysed {
  model m;
  roofline of;
  explicit analysed(const std::vector<json>& records) : m(make_model(typed(records))), of(rooflines(m).at(0)) {}
};

TEST(Roofline, LimitsAreThoseByHand) {
  // The copy of its group reaches 40 GB/s, the arithmetic 100 GFLOP/s: a balance of 2.5.
  const analysed held({case_of("scan/cpu:packed", 8e6, 4e6, 400e3), case_of("copy/cpu", 8e6, 0, 200e3),
                       case_of("muladd/cpu", 0, 1e6, 10e3), case_of("convolve/cpu", 8e6, 80e6, 1e6, "f64"),
                       case_of("copy/cpu", 8e6, 0, 200e3, "f64"), case_of("muladd/cpu", 0, 1e6, 10e3, "f64")});
  const roofline& found = held.of;
  ASSERT_EQ(found.points.size(), 2u);
  const auto& scan = found.points[0].what->algorithm == "scan" ? found.points[0] : found.points[1];
  const auto& convolve = found.points[0].what->algorithm == "scan" ? found.points[1] : found.points[0];
  EXPECT_DOUBLE_EQ(scan.intensity, 0.5);
  EXPECT_DOUBLE_EQ(*scan.balance(), 2.5);
  EXPECT_TRUE(scan.is_memory_bound());
  EXPECT_DOUBLE_EQ(scan.limit_ns(), 200e3);
  EXPECT_DOUBLE_EQ(scan.share(), 0.5);
  EXPECT_EQ(scan.bound_by(), record::ceiling::copy);
  EXPECT_DOUBLE_EQ(convolve.intensity, 10);
  EXPECT_FALSE(convolve.is_memory_bound());
  EXPECT_DOUBLE_EQ(convolve.limit_ns(), 800e3);
  EXPECT_DOUBLE_EQ(convolve.share(), 0.8);
  EXPECT_EQ(convolve.bound_by(), record::ceiling::muladd);
  EXPECT_TRUE(why_implausible(found, convolve).empty());
}

TEST(Roofline, AProblemIsHeldAgainstTheMemoryThatItFits) {
  std::vector<json> records = readings();
  records.push_back(case_of("scan/cpu", 512 * KiB, 1, 10e3));
  records.push_back(case_of("copy/cpu", 512 * KiB, 0, 40e3));  // mostly overhead of the call
  records.push_back(case_of("scan/cpu", 64 * MiB, 1, 4e6, "f32", 2000));
  const analysed held(records);
  const roofline& found = held.of;
  ASSERT_EQ(found.roofs.levels.size(), 2u);
  ASSERT_EQ(found.points.size(), 2u);
  EXPECT_NEAR(*found.points[0].memory, 100e9, 5e9);
  EXPECT_NEAR(*found.points[1].memory, 20e9, 1e9) << "no cache holds it";
  EXPECT_EQ(found.points[0].bound_by(), record::ceiling::read);
}

TEST(Roofline, BeyondCachesWhatWritesIsHeldAgainstCopies) {
  std::vector<json> records = readings();
  const auto add = [&](const char* variant, double bytes, double ns, std::uint64_t n) {
    records.push_back(case_of(variant, bytes, 1, ns, "f32", n));
    records.push_back(case_of("copy/cpu", 64 * MiB, 0, 64 * MiB / 16, "f32", n));  // 16 GB/s
  };
  add("scan/cpu", 64 * MiB, 8e6, 1000);
  add("reduce/cpu", 32 * MiB, 4e6, 2000);
  const analysed held(records);
  ASSERT_EQ(held.of.points.size(), 2u);
  for (const roofline_point& at : held.of.points) {
    const bool writes = at.what->algorithm == "scan";
    EXPECT_EQ(at.bound_by(), writes ? record::ceiling::copy : record::ceiling::read);
    EXPECT_NEAR(*at.memory, writes ? 16e9 : 20e9, 1e9);
  }
}

TEST(Roofline, ArithmeticIsThatOfTheTypeOrOfIntegersOfItsWidth) {
  const std::vector<json> limits{case_of("fma/cpu", 0, 1e6, 10e3, "i32", 5), case_of("fma/cpu", 0, 1e6, 50e3, "i64", 5),
                                 case_of("fma/cpu", 0, 1e6, 5e3, "f32", 5),
                                 case_of("muladd/cpu", 0, 1e6, 8e3, "f32", 5)};
  const auto rate_for = [&](const char* variant, const char* dtype) {
    std::vector<json> records = limits;
    records.push_back(case_of(variant, 8e3, 8e6, 1e6, dtype));
    const analysed held(records);
    const roofline& found = held.of;
    EXPECT_EQ(found.points.size(), 1u);
    return found.points.front().arithmetic.value_or(0);
  };
  EXPECT_DOUBLE_EQ(rate_for("polymul/cpu", "u64"), 1e6 / 50e3 * 1e9);
  EXPECT_DOUBLE_EQ(rate_for("polymul/cpu", "i32"), 1e6 / 10e3 * 1e9);
  EXPECT_DOUBLE_EQ(rate_for("scan/cpu", "f32"), 1e6 / 8e3 * 1e9) << "what fuses nothing comes first";
  EXPECT_DOUBLE_EQ(rate_for("scan/cpu", "f64"), 0) << "none was measured";
  EXPECT_DOUBLE_EQ(rate_for("sort/cpu", "u32"), 0) << "its operations are comparisons";
}

TEST(Roofline, OfLimitsMeasuredAgainTheFastestThatCanBeTrustedCounts) {
  const json ours = case_of("scan/cpu", 8e6, 4e6, 400e3);
  std::vector<json> copies{case_of("copy/cpu", 8e6, 0, 200e3), case_of("copy/cpu", 8e6, 0, 300e3),
                           case_of("copy/cpu", 8e6, 0, 100e3), case_of("copy/cpu", 8e6, 0, 50e3)};
  copies[1]["device"]["name"] = "cpu:serial";  // from another run
  copies[2]["timing"]["kernel"]["ci95_hi_ns"] = 150e3;
  copies[3]["case"]["mode"] = "cold";
  for (int turn = 0; turn < 4; ++turn) {
    std::rotate(copies.begin(), copies.begin() + 1, copies.end());
    std::vector<json> records = copies;
    records.push_back(ours);
    const analysed held(records);
    ASSERT_FALSE(held.of.points.empty());
    EXPECT_DOUBLE_EQ(held.of.points.front().share(), 0.5) << turn;
  }
}

TEST(Roofline, AProblemHasOneShareWhereverItIsTold) {
  std::vector<json> records = readings();
  for (const auto& [variant, n] :
       {std::pair("scan/cpu", 1000), std::pair("reduce/cpu", 2000), std::pair("matmul/cpu", 3)}) {
    records.push_back(case_of(variant, 512 * KiB, n == 3 ? 1e9 : 1, 10e6, "f32", static_cast<std::uint64_t>(n)));
    records.back()["derived"]["ceiling"] = "copy";
    records.back()["derived"]["fraction_of_ceiling"] = 0.75;  // of a run that knew no other limit
    records.push_back(case_of("copy/cpu", 512 * KiB, 0, 40e3, "f32", static_cast<std::uint64_t>(n)));
    records.push_back(case_of("fma/cpu", 0, 1e6, 10e3, "f32", static_cast<std::uint64_t>(n)));
  }
  const analysed held(records);
  ASSERT_EQ(held.of.points.size(), 3u);
  for (const roofline_point& at : held.of.points) {
    EXPECT_DOUBLE_EQ(at.what->fraction.value_or(0), at.share()) << at.what->algorithm;
    EXPECT_EQ(at.what->bound_by, at.bound_by()) << at.what->algorithm;
  }
}

TEST(Roofline, AMethodThatNeedsFewerOperationsIsHeldAgainstItsBytesAlone) {
  const auto held = [](const char* variant) {
    return analysed({case_of(variant, 8e3, 8e6, 4e3, "i32"), case_of("copy/cpu", 8e3, 0, 2e3, "i32"),
                     case_of("fma/cpu", 0, 1e6, 10e3, "i32")});
  };
  const analysed definition = held("polymul/cpu:naive"), transforms = held("polymul/cpu:ntt");
  EXPECT_EQ(definition.of.points.front().bound_by(), record::ceiling::fma);
  EXPECT_FALSE(transforms.of.points.front().arithmetic);
  EXPECT_EQ(transforms.of.points.front().bound_by(), record::ceiling::copy);
  EXPECT_DOUBLE_EQ(transforms.of.points.front().share(), 0.5);
}

TEST(Roofline, TheCallOfAShortCopyIsPaidOnce) {
  // 8 KB take 5 us, 8 MB 8 us; a product moves 24 KB, three times the short copy's.
  const analysed held({case_of("polymul/cpu:ntt", 24e3, 8e6, 20e3, "i32"), case_of("copy/cpu", 8e3, 0, 5e3, "i32"),
                       case_of("scan/cpu:packed", 8e6, 4e6, 10e3, "f64"), case_of("copy/cpu", 8e6, 0, 8e3, "f64")});
  for (const roofline_point& at : held.of.points)
    EXPECT_NEAR(at.share(), at.what->algorithm == "polymul" ? 5.016 / 20 : 0.8, 1e-9) << at.what->variant;
}

TEST(Roofline, OneKindOfArithmeticBoundsAProblemOnEveryDevice) {
  const std::vector<json> both{case_of("fma/cpu", 0, 1e6, 5e3), case_of("muladd/cpu", 0, 1e6, 10e3)};
  const auto bound = [&](const char* variant, bool has_muladd) {
    std::vector<json> records{case_of(variant, 8e3, 8e6, 1e6), both[0]};
    if (has_muladd) records.push_back(both[1]);
    const analysed held(records);
    const roofline_point& at = held.of.points.front();
    return at.has_limit() ? std::string(name_of(at.bound_by())) : "none";
  };
  EXPECT_EQ(bound("diffuse/cpu", true), "muladd");
  EXPECT_EQ(bound("diffuse/cpu", false), "none") << "no roof of its kind was measured";
  EXPECT_EQ(bound("matmul/cpu", true), "fma");
}

TEST(Roofline, WhatIsBeyondItsLimitSaysWhyThatMayBe) {
  const auto why = [](double ns, bool is_plausible) {
    json ours = case_of("convolve/cpu", 1e3, 8e6, ns);
    ours["derived"]["plausible"] = is_plausible;
    const analysed held({ours, case_of("muladd/cpu", 0, 1e6, 10e3)});
    const roofline& found = held.of;  // 80 us
    return why_implausible(found, found.points.front());
  };
  EXPECT_EQ(why(77e3, true), "") << "5 % are allowed";
  EXPECT_NE(why(70e3, true).find("fewer operations than the definition"), std::string::npos) << why(70e3, true);
  EXPECT_NE(why(70e3, false).find("cannot be true"), std::string::npos) << why(70e3, false);
}

TEST(Roofline, WhatIsFasterThanACopySaysWhatItSharesWithNone) {
  // The device has a cache of 50 MiB, and copies at most 80 GB/s.
  const auto why = [](double bytes, double copied, double copy_ns) {
    json ours = case_of("reduce/cpu", bytes, 1, copy_ns * bytes / copied / 1.1);
    const analysed held({ours, case_of("copy/cpu", copied, 0, copy_ns), case_of("copy/cpu", 8e9, 0, 1e8, "f64", 7),
                         case_of("scan/cpu", 8e9, 1, 2e8, "f64", 7)});
    for (const roofline_point& at : held.of.points)
      if (at.what->algorithm == "reduce") return why_implausible(held.of, at);
    return std::string("no point");
  };
  EXPECT_EQ(why(1e9, 2e9, 25e6), "it mostly reads, and its limit is a copy, which writes as much as it reads");
  EXPECT_EQ(why(8e6, 16e6, 200e3),
            "its data fit a cache of 50.0 MiB, as its system tells, of which a copy takes twice the room");
  EXPECT_EQ(why(4e3, 8e3, 1e4), "the copy of so few bytes is mostly its call");
  EXPECT_NE(why(1e9, 1e9, 12.5e6).find("may write less"), std::string::npos) << "of two inputs one is copied";
}

TEST(Roofline, ATinyProblemIsHeldAgainstTheShortestCall) {
  std::vector<json> records = readings();
  records.push_back(case_of("scan/cpu", 1 * KiB, 128, 8e3));
  records.push_back(case_of("scan/cpu", 512 * KiB, 1, 10e3, "f32", 2000));
  const analysed before(records);
  for (const double ns : {6e3, 4e3, 5e3}) records.push_back(case_of("launch/cpu", 128, 0, ns, "u64"));
  const analysed after(records);
  EXPECT_FALSE(before.of.roofs.launch_ns);
  ASSERT_TRUE(after.of.roofs.launch_ns);
  EXPECT_DOUBLE_EQ(*after.of.roofs.launch_ns, 4e3) << "the shortest";
  ASSERT_EQ(after.of.points.size(), 2u);
  const roofline_point &tiny = after.of.points[0], &large = after.of.points[1];
  EXPECT_TRUE(tiny.is_launch_bound());
  EXPECT_EQ(tiny.bound_by(), record::ceiling::launch);
  EXPECT_DOUBLE_EQ(tiny.share(), 0.5);
  EXPECT_LT(before.of.points[0].share(), 0.01) << "as before, without that roof";
  EXPECT_FALSE(large.is_launch_bound());
  EXPECT_DOUBLE_EQ(large.limit_ns(), before.of.points[1].limit_ns());
}

TEST(Roofline, ThePageHasAChartForTheDevice) {
  std::vector<json> records = readings();
  int n = 0;
  for (const double operations : {1e5, 1e6, 1e7, 1e8}) {
    records.push_back(case_of("convolve/cpu", 4e6, operations, 1e6, "f32", static_cast<std::uint64_t>(++n)));
    records.push_back(case_of("muladd/cpu", 0, 1e6, 10e3, "f32", static_cast<std::uint64_t>(n)));
  }
  const std::string page = page_of(records);
  EXPECT_NE(page.find("What bounds each device"), std::string::npos);
  EXPECT_NE(page.find("What bounds it"), std::string::npos);
  const std::string charts = charts_of(page).dump();
  EXPECT_NE(charts.find("\"kind\":\"roofline\""), std::string::npos);
  EXPECT_NE(charts.find("read, beyond"), std::string::npos);
  EXPECT_EQ(page.find("Above it: "), std::string::npos);
  EXPECT_NE(page.find("Bound by arithmetic: convolve."), std::string::npos);
  EXPECT_EQ(page.find("Bound by memory: "), std::string::npos) << "a fifth of its limit";
  records[records.size() - 2] = case_of("convolve/cpu", 4e6, 1e8, 0.9e6, "f32", static_cast<std::uint64_t>(n));
  EXPECT_NE(page_of(records).find("Above it: convolve f32 with 110 % of muladd at n"), std::string::npos)
      << "nothing is dropped";
  EXPECT_EQ(page_of({records.begin(), records.begin() + 3}).find("What bounds each device"), std::string::npos)
      << "limits alone bound nothing";
}

TEST(Roofline, ReadingCountsWhatItReads) {
  const auto cpu = backend::find_device("cpu:serial", {});
  int asked = 0;
  const auto roofs = lab::measure_roofs(*cpu, {.interrupted = [&asked] { return ++asked > 12; }});
  ASSERT_GT(roofs.size(), 10u);
  for (const record::result& r : roofs) {
    EXPECT_TRUE(r.what.is_limit()) << r.what.variant;
    if (r.what.algorithm != "read" || r.what.bytes_min == 0) continue;
    EXPECT_EQ(std::fmod(r.what.bytes_min, static_cast<double>(r.what.n / 512 * 512)), 0) << r.what.n;
  }
}

}  // namespace
}  // namespace tilewise::report
