// SPDX-License-Identifier: Apache-2.0
// The time of a plan: what is left out to keep it, how it is shared, and that a slow call is not repeated without need.
#include "lab/bench/describe.hpp"
#include "lab/bench/measure.hpp"
#include "lab/plan/request.hpp"
#include "lab/plan/visits.hpp"
#include "lab/roofline/limit.hpp"
#include "planted_variant.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tilewise::lab {
namespace {

const registry::variant& variant_called(std::string_view id) {
  for (const registry::algorithm* a : registry::algorithms())
    for (const registry::variant* v : registry::variants_of(*a))
      if (v->id() == id) return *v;
  throw std::runtime_error("no variant " + std::string(id));
}

/// A matrix product on one core, by the simple loop and by packed tiles.
group product(std::uint64_t n, const experiment* from = nullptr) {
  const auto on = backend::find_device("cpu:serial", {});
  group g{{.what = &registry::find_algorithm("matmul"), .shape = {n, n, n}}, "cpu", {}, from};
  for (const char* id : {"matmul/cpu:simple", "matmul/cpu:packed"}) {
    const registry::variant& v = variant_called(id);
    g.rows.push_back({&v, on, registry::default_tuning(v.tuning)});
  }
  return g;
}

measuring for_two_seconds() {
  measuring how;
  how.rule.max_ns = 2e9;
  return how;
}

/// The rows with these times, in seconds.
std::vector<measured> timed(const group& g, std::vector<double> seconds) {
  std::vector<measured> all = describe_unmeasured(g, for_two_seconds(), record::status::ok, "");
  for (std::size_t i = 0; i < all.size(); ++i) {
    series taken;
    taken.ns = {seconds[i] * 1e9};
    all[i].result.timing.emplace().kernel = clock_of(taken);
  }
  return all;
}

/// The rows that are left out at 1024, which is eight times the work, after these times at 512.
std::vector<std::string> left_out_at_1024(std::vector<double> seconds_at_512, const experiment* from = nullptr) {
  const std::vector<group> plan{product(512, from), product(1024, from)};
  pace kept(plan, for_two_seconds());
  kept.note(plan[0], timed(plan[0], std::move(seconds_at_512)));
  std::vector<std::string> reasons;
  for (const row& r : kept.affordable(plan[1]).rows) reasons.push_back(r.skip);
  return reasons;
}

TEST(LabPace, WhatASmallerSizeShowsToBeTooSlowIsLeftOut) {
  const auto reasons = left_out_at_1024({1, 0.01});
  EXPECT_NE(reasons[0].find("about 8.0 s, judged by n=512x512x512"), std::string::npos) << reasons[0];
  EXPECT_NE(reasons[0].find("2.0 s (--max-time)"), std::string::npos) << reasons[0];
  EXPECT_EQ(reasons[1], "");
  EXPECT_EQ(left_out_at_1024({0.2, 0.01})[0], "") << "1.6 s are as long as samples may take";
  EXPECT_EQ(left_out_at_1024({0.252, 0.01})[0], "") << "a call's start does not grow";
}

TEST(LabPace, ADisturbedSampleIsNotTakenForTheCall) {
  const std::vector<group> plan{product(512), product(1024)};
  for (const double first_s : {0.01, 1.0}) {
    pace kept(plan, for_two_seconds());
    std::vector<measured> rows = timed(plan[0], {1, 0.01});
    rows[0].result.timing->first_call_ns = first_s * 1e9;
    kept.note(plan[0], rows);
    EXPECT_EQ(kept.affordable(plan[1]).rows[0].skip.empty(), first_s == 0.01) << first_s;
  }
}

TEST(LabPace, TheFastestStaysAndADocumentsProgramToo) {
  EXPECT_EQ(left_out_at_1024({1.2, 1}), std::vector<std::string>(2)) << "the fastest, and what is about as fast";
  EXPECT_NE(left_out_at_1024({2, 1})[0], "");
  const experiment document{.algorithm = "matmul",
                            .document = "a document",
                            .baseline = "",
                            .type = dtype::f32,
                            .sizes = {{{512, 512, 512}, ""}, {{1024, 1024, 1024}, ""}},
                            .methods = {{"its program", "matmul/cpu:simple @*"}}};
  EXPECT_EQ(left_out_at_1024({2, 1}, &document)[0], "");
}

TEST(LabPace, WhatIsLeftOutStaysOutAtLargerSizes) {
  const std::vector<group> plan{product(512), product(1024), product(2048)};
  pace kept(plan, for_two_seconds());
  kept.note(plan[0], timed(plan[0], {1, 0.3}));
  std::vector<measured> second = timed(plan[1], {1, 30});  // as if packed tiles had become slow
  second[0].end(record::status::skipped, "");
  kept.note(kept.affordable(plan[1]), second);
  EXPECT_EQ(kept.affordable(plan[2]).rows[0].skip, "it was left out at n=1024x1024x1024 already");
  EXPECT_EQ(kept.affordable(plan[2]).rows[1].skip, "") << "the fastest";
}

TEST(LabPace, TheLargestSizeJudgesAndWhatIsLeftOutIsNotAtSmallerOnes) {
  const std::vector<group> plan{product(256), product(512), product(1024), product(512)};
  pace kept(plan, for_two_seconds());
  kept.note(plan[0], timed(plan[0], {1, 0.001}));
  kept.note(plan[1], timed(plan[1], {0.1, 0.01}));
  EXPECT_EQ(kept.affordable(plan[2]).rows[0].skip, "") << "0.8 s, though 64 by the smallest";
  pace slow(plan, for_two_seconds());
  slow.note(plan[1], timed(plan[1], {1, 0.01}));
  EXPECT_NE(slow.affordable(plan[2]).rows[0].skip, "");
  EXPECT_EQ(slow.affordable(plan[3]).rows[0].skip, "");
}

TEST(LabPace, ALimitIsNotTheFastest) {
  std::vector<group> plan{product(512), product(1024)};
  for (group& g : plan) g.rows[1] = {limits_of(g.problem, "cpu").front(), g.rows[0].on};
  pace kept(plan, for_two_seconds());
  kept.note(plan[0], timed(plan[0], {2, 0.01}));
  EXPECT_EQ(kept.affordable(plan[1]).rows[0].skip, "") << "of what computes there is nothing faster";
}

TEST(LabPace, TimesInSentencesHaveTwoDigits) {
  const std::pair<double, const char*> cases[] = {{5e6, "5 ms"},  {99.4e6, "99 ms"}, {99.6e6, "0.1 s"},
                                                  {2e9, "2.0 s"}, {9.94e9, "9.9 s"}, {9.96e9, "10 s"},
                                                  {42e9, "42 s"}};
  for (const auto& [ns, expected] : cases) EXPECT_EQ(seconds(ns), expected);
}

TEST(LabPace, ASmallerSizeIsNotJudgedByALargerOne) {
  const std::vector<group> plan{product(1024), product(512)};
  pace kept(plan, for_two_seconds());
  kept.note(plan[0], timed(plan[0], {100, 0.01}));
  EXPECT_EQ(kept.affordable(plan[1]).rows[0].skip, "");
}

TEST(LabPace, ATimeIsOfItsDeviceTuningTypeAndSettingsAlone) {
  static constexpr std::array<unsigned, 2> widths{64, 128};
  static constexpr std::array<registry::tuning_axis, 1> axes{{{"width", widths, 64}}};
  registry::variant slow = tests::planted_variant("scan", "slow", nullptr), quick = slow;
  slow.tuning = quick.tuning = axes;
  quick.name = "quick";
  const auto scans = [&](std::uint64_t n) {
    const auto on = backend::find_device("cpu:serial", {});
    const registry::tuning narrow = registry::default_tuning(axes);
    return group{
        {.what = &registry::find_algorithm("scan"), .shape = {n}}, "cpu", {{&slow, on, narrow}, {&quick, on, narrow}}};
  };
  const struct {
    const char* what;
    void (*change)(group&);
    bool is_another;
  } cases[] = {
      {"nothing", [](group&) {}, false},
      {"device", [](group& g) { g.rows[0].on = backend::find_device("cpu:threads", {}); }, true},
      {"tuning", [](group& g) { g.rows[0].tuning.value[0] = 128; }, true},
      {"type", [](group& g) { g.problem.type = dtype::f64; }, true},
      {"settings", [](group& g) { g.problem.setting[0] = 1; }, true},
  };
  for (const auto& c : cases) {
    const group before = scans(1 << 20);
    group changed = before, later = scans(1 << 23);
    c.change(changed);
    c.change(later);
    pace kept(std::vector{before, later}, for_two_seconds());
    kept.note(before, timed(before, {1, 0.01}));
    changed.rows.erase(changed.rows.begin());
    kept.note(changed, timed(changed, {0.01}));  // the quick one is known either way
    EXPECT_EQ(kept.affordable(later).rows[0].skip.empty(), c.is_another) << "another " << c.what;
  }
}

TEST(LabPace, TimeStepsAreWorkToo) {
  const auto fields = [](std::uint64_t width, std::uint64_t steps) {
    group g{{.what = &registry::find_algorithm("diffuse"), .type = dtype::f64, .shape = {width, width, steps}},
            "cpu",
            {},
            nullptr};
    for (const char* id : {"diffuse/cpu:fused", "diffuse/cpu:temporal"}) {
      const registry::variant& v = variant_called(id);
      g.rows.push_back({&v, backend::find_device("cpu:serial", {}), registry::default_tuning(v.tuning)});
    }
    return g;
  };
  const std::vector<group> plan{fields(64, 1000), fields(256, 1), fields(256, 1000)};
  pace kept(plan, for_two_seconds());
  kept.note(plan[0], timed(plan[0], {1, 0.01}));
  EXPECT_EQ(kept.affordable(plan[1]).rows[0].skip, "") << "sixteen times the field, but one step";
  EXPECT_NE(kept.affordable(plan[2]).rows[0].skip, "");
}

TEST(LabPace, LostTimeIsSavedByTheGroupsThatFollow) {
  const std::vector<group> plan{product(512), product(513)};
  const pace kept(plan, for_two_seconds());
  EXPECT_GT(kept.said_ns(), 4 * 2e9) << "two rows twice";
  EXPECT_LT(kept.said_ns(), 10 * 2e9);
  ASSERT_EQ(kept.visits().size(), 4u);
  EXPECT_DOUBLE_EQ(kept.rule_at(0, 0).max_ns, 1e9) << "half of a row's time at each visit";
  EXPECT_DOUBLE_EQ(kept.rule_at(1, 0).max_ns, 1e9) << "never more than asked for";
  EXPECT_DOUBLE_EQ(kept.rule_at(3, 2 * kept.said_ns()).min_ns, kept.rule_at(1, 0).min_ns / 4);
  const double last = kept.rule_at(3, kept.said_ns() * 0.875).max_ns;
  EXPECT_LT(last, 0.6e9);
  EXPECT_GT(last, 0.4e9);
  EXPECT_DOUBLE_EQ(kept.rule_at(3, 2 * kept.said_ns()).max_ns, 0.25e9) << "a quarter at least";
}

TEST(LabPace, WhatWasLeftOutInAnotherProcessIsLeftOutHere) {
  const std::vector<group> plan{product(512), product(1024), product(2048)};
  pace kept(plan, for_two_seconds());
  kept.note(kept.affordable(plan[0]), paces_of(timed(plan[0], {1, 0.01})));
  std::vector<measured> second = timed(plan[1], {1, 0.08});
  second[0].end(record::status::skipped, "");
  kept.note(kept.affordable(plan[1]), paces_of(second));
  EXPECT_EQ(kept.affordable(plan[2]).rows[0].skip, "it was left out at n=1024x1024x1024 already");
}

TEST(LabPace, WhatFailedSaysNothingOfLargerSizes) {
  std::vector<measured> rows = timed(product(512), {1, 0.01});
  rows[0].fail("its process crashed", errc::device_lost);
  rows[1].end(record::status::skipped, "");
  rows[1].failure = errc::out_of_memory;
  for (const pace_of_row& r : paces_of(rows)) EXPECT_FALSE(r.ns || r.was_too_slow);
}

TEST(LabPace, ProcessesOfTheirOwnMakeInputsAnewAndCountTheTimeBefore) {
  const std::vector<group> plan{product(512), product(512)};
  const pace together(plan, for_two_seconds()), apart(plan, for_two_seconds(), 0, true);
  EXPECT_GT(apart.said_ns(), together.said_ns());
  measuring on_time = for_two_seconds(), late = on_time;
  apart.limit(1, plan[1], on_time);
  pace(plan, for_two_seconds(), 2 * apart.said_ns(), true).limit(1, plan[1], late);
  EXPECT_DOUBLE_EQ(on_time.rule.max_ns, 1e9);
  EXPECT_DOUBLE_EQ(late.rule.max_ns, 0.25e9);
}

TEST(LabPace, ADocumentsProgramMayBeginSlowly) {
  const experiment document{
      .algorithm = "matmul", .document = "a document", .baseline = "", .type = dtype::f32, .sizes = {}, .methods = {}};
  for (const bool is_of_document : {false, true}) {
    const std::vector<group> plan{product(512, is_of_document ? &document : nullptr)};
    measuring how = for_two_seconds();
    pace(plan, how).limit(0, plan[0], how);
    EXPECT_EQ(std::isinf(how.longest_first_call_ns), is_of_document);
  }
}

std::vector<measured> measured_with(const measuring& how) {
  const group small = product(16);
  return measure_group(small, make_case(small.problem, data_class::uniform, 1), how);
}

TEST(LabPace, RowsThatNothingToldOfStopAtTheirFirstCalls) {
  measuring how = for_two_seconds();
  how.rule.max_ns = how.rule.min_ns = 1e6;
  for (const measured& m : measured_with(how)) EXPECT_TRUE(m.is_ok());
  how.longest_first_call_ns = 0;
  for (const measured& m : measured_with(how)) {
    EXPECT_EQ(m.result.state, record::status::skipped);
    EXPECT_NE(m.result.reason->find("its first call took"), std::string::npos) << *m.result.reason;
  }
  how.first_checks_ns = 0;
  for (const measured& m : measured_with(how)) {
    EXPECT_EQ(m.result.state, record::status::skipped);
    EXPECT_NE(m.result.reason->find("the rows before it"), std::string::npos) << *m.result.reason;
  }
}

TEST(LabPace, ACallThatOutlastsAllSamplesIsMadeOnce) {
  int calls = 0;
  const contender slow{"slow", [&](std::uint64_t) { return ++calls, 3e9; }};
  const auto taken = measure_in_rounds(std::span(&slow, 1), for_two_seconds().rule);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(taken[0].ns, std::vector<double>{3e9});
  EXPECT_EQ(taken[0].reason, stop_reason::max_time);
}

}  // namespace
}  // namespace tilewise::lab
