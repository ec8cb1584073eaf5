// SPDX-License-Identifier: Apache-2.0
// The laboratory's rules: statistics compared with values by hand and by simulation, rounds and stops on a made-up
// clock, and no time for a wrong result. No test depends on real times.
#include "bench_run.hpp"
#include "lab/bench/bench.hpp"
#include "lab/time/rounds.hpp"
#include "planted_variant.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

namespace tilewise::lab {
namespace {

using namespace tests;

TEST(LabStatistics, SummaryByHand) {
  const std::vector<double> values{9, 1, 5, 3, 7, 2, 8, 4, 6, 100};
  const summary s = summarize(values);
  EXPECT_EQ(s.n, 10u);
  EXPECT_DOUBLE_EQ(s.median, 5.5);
  EXPECT_DOUBLE_EQ(s.q1, 3.25);
  EXPECT_DOUBLE_EQ(s.q3, 7.75);
  EXPECT_DOUBLE_EQ(s.mean, 14.5);
  EXPECT_DOUBLE_EQ(s.mad, 2.5);  // deviations 0.5 0.5 1.5 1.5 2.5 2.5 3.5 3.5 4.5 94.5
  EXPECT_EQ(s.outliers, 1u);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 100);
  ASSERT_TRUE(s.ci95);  // P(Bin(10, 1/2) < 2) = 11/1024 <= 2.5 % < P(... < 3)
  EXPECT_EQ(s.ci95->lo, 2);
  EXPECT_EQ(s.ci95->hi, 9);
}

TEST(LabStatistics, NoIntervalBelowSixSamples) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  EXPECT_FALSE(median_interval(std::span(values).first(1)));
  EXPECT_FALSE(median_interval(std::span(values).first(5)));
  const auto six = median_interval(values);
  ASSERT_TRUE(six);
  EXPECT_EQ(six->lo, 1);
  EXPECT_EQ(six->hi, 6);
}

TEST(LabStatistics, OutliersAreFoundWhereMostTimesAreEqual) {
  std::vector<double> values(20, 10.0);
  EXPECT_EQ(summarize(values).outliers, 0u);
  values[7] = 30;
  EXPECT_EQ(summarize(values).outliers, 1u);
}

/// A time as skewed as real ones, with a minimum and a long tail. Its median is known.
double skewed(std::mt19937_64& random) { return 100 + std::exp(std::normal_distribution<double>(0, 1)(random)); }
constexpr double skewed_median = 101;

TEST(LabStatistics, IntervalCoversTheMedianAsOftenAsItSays) {
  std::mt19937_64 random(20240607);
  constexpr int draws = 2000;
  int covered = 0;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> values(25);
    for (double& v : values) v = skewed(random);
    const interval ci = *summarize(values).ci95;
    covered += ci.lo <= skewed_median && skewed_median <= ci.hi;
  }
  EXPECT_GT(covered, draws * 92 / 100);
  EXPECT_LT(covered, draws * 98 / 100);
}

TEST(LabStatistics, RatioUsesCommonRoundsOnly) {
  const std::vector<double> other{20, 40, 60, 1000}, ours{10, 20, 30};
  const auto ratio = ratio_of(other, ours);
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->n, 3u);
  EXPECT_DOUBLE_EQ(ratio->median, 2);
  EXPECT_FALSE(ratio_of(other, {}));
  const std::span<const double> others[] = {std::span(other).first(2), std::span(other).last(2)},
                                again[] = {std::span(ours).first(2), std::span(ours).last(1)};
  const auto of_both = ratio_of(others, again);
  ASSERT_TRUE(of_both);
  EXPECT_EQ(of_both->n, 3u) << "of each visit";
  EXPECT_DOUBLE_EQ(of_both->max, 2);
}

TEST(LabStopRule, EachReason) {
  const stop_rule rule;
  const std::vector<double> steady(1000, 5.0);
  const std::span<const double> all(steady);
  EXPECT_FALSE(rule.verdict(all.first(9), 1e9));
  EXPECT_FALSE(rule.verdict(all.first(10), 0.4e9)) << "precise, but too short";
  EXPECT_EQ(rule.verdict(all.first(10), 0.5e9), stop_reason::precision);
  EXPECT_EQ(rule.verdict(all.first(2), 10e9), stop_reason::max_time);
  std::vector<double> wild;
  for (int i = 0; i < 1000; ++i) wild.push_back(i % 2 == 0 ? 1 : 2);
  EXPECT_FALSE(rule.verdict(std::span(wild).first(100), 5e9));
  EXPECT_EQ(rule.verdict(wild, 5e9), stop_reason::max_samples);
  EXPECT_FALSE(rule.verdict(std::vector<double>{4, 4, 5, 5, 5, 5, 5, 5, 5, 5}, 5e9)) << "imprecise below";
  EXPECT_FALSE(rule.verdict(std::vector<double>{5, 5, 5, 5, 5, 5, 5, 5, 6, 6}, 5e9)) << "imprecise above";
  const std::pair<stop_reason, std::string_view> told[] = {{stop_reason::precision, "precision"},
                                                           {stop_reason::max_samples, "max_samples"},
                                                           {stop_reason::max_time, "max_time"},
                                                           {stop_reason::interrupted, "interrupted"}};
  for (const auto& [reason, word] : told) EXPECT_EQ(name_of(reason), word);
}

TEST(LabStopRule, LooksAtCheckpointsOnly) {
  const stop_rule rule;
  const std::vector<double> steady(40, 5.0);
  std::vector<std::size_t> stops;
  for (std::size_t n = 1; n <= 40; ++n)
    if (rule.verdict(std::span(steady).first(n), 1e9)) stops.push_back(n);
  EXPECT_EQ(stops, (std::vector<std::size_t>{10, 15, 20, 25, 30, 36}));
}

/// A contender on a made-up clock: each call takes `ns`.
contender fake(std::string name, std::function<double()> ns, std::vector<std::string>* log = nullptr) {
  return {name, [name, ns, log](std::uint64_t calls) {
            if (log != nullptr) log->push_back(name);
            double total = 0;
            for (std::uint64_t i = 0; i < calls; ++i) total += ns();
            return total;
          }};
}

TEST(LabRounds, TurnsGoThereAndBack) {
  std::vector<std::string> log;
  const std::vector<contender> three{fake(
                                         "a", [] { return 1e6; }, &log),
                                     fake(
                                         "b", [] { return 1e6; }, &log),
                                     fake(
                                         "c", [] { return 1e6; }, &log)};
  stop_rule rule;
  rule.min_ns = 0;
  const auto taken = measure_in_rounds(three, rule);
  const std::vector<std::string> warm{"a", "a", "a", "b", "b", "b", "c", "c", "c"};
  const std::vector<std::string> turns{"a", "b", "c", "c", "b", "a", "a", "b", "c"};
  ASSERT_GE(log.size(), warm.size() + turns.size());
  EXPECT_TRUE(std::equal(warm.begin(), warm.end(), log.begin()));
  EXPECT_TRUE(std::equal(turns.begin(), turns.end(), log.begin() + static_cast<std::ptrdiff_t>(warm.size())));
  for (const series& s : taken) EXPECT_EQ(s.ns.size(), 10u);
}

TEST(LabRounds, ShortCallsAreBundledAndOneFailureCostsNobodyElse) {
  int calls = 0;
  const std::vector<contender> three{fake("short", [] { return 10.0; }),
                                     fake("faulty",
                                          [&calls]() -> double {
                                            if (++calls > 8) throw std::runtime_error("lost");
                                            return 1e6;
                                          }),
                                     fake("slow", [] { return 3e9; })};
  stop_rule rule;
  rule.min_ns = 0;
  const auto taken = measure_in_rounds(three, rule);
  EXPECT_GE(static_cast<double>(taken[0].calls_per_sample) * 10, shortest_sample_ns);
  EXPECT_EQ(taken[0].calls_per_sample, std::bit_ceil(taken[0].calls_per_sample));
  EXPECT_EQ(taken[0].reason, stop_reason::precision);
  EXPECT_EQ(taken[1].failure, "lost");
  EXPECT_EQ(taken[2].reason, stop_reason::max_time);
  EXPECT_EQ(taken[2].ns.size(), 4u);  // 3 s each against a cap of 10 s
}

TEST(LabRounds, AnInterruptEndsThemWithWhatThereIs) {
  int asked = 0;
  round_hooks hooks;
  hooks.interrupted = [&asked] { return ++asked > 5; };
  const std::vector<contender> two{fake("a", [] { return 1e6; }), fake("b", [] { return 1e6; })};
  const auto taken = measure_in_rounds(two, stop_rule{}, hooks);
  for (const series& s : taken) EXPECT_EQ(s.reason, stop_reason::interrupted);
  EXPECT_EQ(taken[0].ns.size() + taken[1].ns.size(), 3u);
}

TEST(LabNoise, EqualContendersAreEqualWithinTheFloorAndUnequalOnesAreNot) {
  std::mt19937_64 random(7);
  const auto noisy = [&random](double base) {
    return [&random, base] { return base * std::normal_distribution<double>(1, 0.02)(random); };
  };
  const std::vector<contender> three{fake("a", noisy(1e6)), fake("a again", noisy(1e6)), fake("b", noisy(1.2e6))};
  stop_rule rule;
  rule.min_ns = 0;
  const auto taken = measure_in_rounds(three, rule);
  const auto floor = noise_between(taken[0], taken[1]);
  ASSERT_TRUE(floor);
  EXPECT_NEAR(floor->aa_median_ratio, 1, 0.03);
  EXPECT_GE(floor->min_effect, std::abs(floor->aa_median_ratio - 1));
  EXPECT_LT(floor->min_effect, 0.05);
  EXPECT_GT(ratio_of(taken[2].ns, taken[0].ns)->ci95->lo - 1, floor->min_effect);
  series few = taken[0];
  few.ns.resize(5);
  EXPECT_FALSE(noise_between(few, few));
}

TEST(LabNoise, TheFloorIsTheFartherEndOfTheSecondTimesOverTheFirst) {
  const struct {
    std::vector<double> again;  // compared with 100
    double median, floor;
  } cases[] = {
      {{100, 100, 100, 100, 100, 100}, 1, 0}, {{90, 99, 100, 100, 101, 105}, 1, 0.1},
      {{95, 99, 100, 100, 101, 110}, 1, 0.1}, {{200, 200, 200, 200, 200, 200}, 2, 1},
      {{50, 50, 50, 50, 50, 50}, 0.5, 0.5},
  };
  for (const auto& c : cases) {
    const auto found = noise_between({.ns = std::vector<double>(6, 100)}, {.ns = c.again});
    ASSERT_TRUE(found);
    EXPECT_DOUBLE_EQ(found->aa_median_ratio, c.median);
    EXPECT_NEAR(found->min_effect, c.floor, 1e-12) << c.median;
  }
}

/// Rows that claim the order. One is wrong in its last element. One is wrong from its second call on, which is the
/// first timed call. One throws, and one writes nothing.
template <int RightCalls>
void run_wrong(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
               backend::queue& queue) {
  static int calls = 0;
  registry::reference_of(*p.what).run(p, where, t, queue);
  if (++calls > RightCalls) where.out[0].as<unsigned char>()[where.out[0].bytes - 1] ^= 1;
}
void run_throwing(const registry::problem&, const registry::bindings&, const registry::tuning&, backend::queue&) {
  throw error(errc::build_failed, "planted");
}
void run_idle(const registry::problem&, const registry::bindings&, const registry::tuning&, backend::queue&) {}
/// Writes only the first of two outputs.
void run_half(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
              backend::queue& queue) {
  std::vector<std::byte> nowhere(p.what->outputs(p).at(1).bytes());
  registry::bindings elsewhere = where;
  elsewhere.out[1] = {nowhere.data(), 0, nowhere.size()};
  registry::reference_of(*p.what).run(p, elsewhere, t, queue);
}

void plant() {
  static const bool done = [] {
    registry::add_peers(std::vector{tests::planted_peer("reduce", "planted_wrong", run_wrong<0>),
                                    tests::planted_peer("reduce", "planted_late", run_wrong<1>),
                                    tests::planted_peer("reduce", "planted_throw", run_throwing),
                                    tests::planted_peer("reduce", "planted_idle", run_idle),
                                    tests::planted_peer("sort", "planted_half", run_half)});
    return true;
  }();
  (void)done;
}

/// It shares its memory with a row that has left the correct result there.
TEST(LabBench, WhatComputesNothingIsWrong) {
  plant();
  const outcome o = bench({"reduce/serial", "reduce/cpu:planted_idle"});
  EXPECT_EQ(o.exit_code, 3);
  EXPECT_EQ(record_of(o, "reduce/serial")["status"], "ok");
  EXPECT_EQ(record_of(o, "reduce/cpu:planted_idle")["status"], "wrong");
  const outcome cold = bench({"reduce/serial", "reduce/cpu:planted_idle", "--mode", "cold"});
  EXPECT_EQ(record_of(cold, "reduce/serial")["status"], "ok");
  EXPECT_EQ(record_of(cold, "reduce/cpu:planted_idle")["status"], "wrong")
      << "where several sets of operands take turns";
}

/// The same, for its second output only.
TEST(LabBench, WhatComputesNothingOfASecondOutputIsWrong) {
  plant();
  for (const char* mode : {"hot", "cold"}) {
    const outcome o = bench({"sort/serial", "sort/cpu:planted_half", "--set", "payload=indices", "--mode", mode});
    EXPECT_EQ(o.exit_code, 3);
    EXPECT_EQ(record_of(o, "sort/serial")["status"], "ok");
    EXPECT_EQ(record_of(o, "sort/cpu:planted_half")["status"], "wrong") << mode;
  }
}

TEST(LabBench, AWrongResultHasNoTimeAndExitCode3) {
  plant();
  const outcome o = bench({"reduce/serial", "reduce/cpu:planted_wrong"});
  EXPECT_EQ(o.exit_code, 3);
  const auto& wrong = record_of(o, "reduce/cpu:planted_wrong");
  EXPECT_EQ(wrong["status"], "wrong");
  EXPECT_TRUE(wrong["timing"].is_null());
  EXPECT_TRUE(wrong["derived"].is_null());
  EXPECT_EQ(wrong["verify"]["ok"], false);
  EXPECT_EQ(wrong["verify"]["first_mismatch"]["index"], 0);
  EXPECT_EQ(record_of(o, "reduce/serial")["status"], "ok");
  EXPECT_TRUE(is_valid(o.file));
}

TEST(LabBench, WhatGoesWrongWhileItIsTimedIsFoundAfterwards) {
  plant();
  const outcome o = bench({"reduce/serial", "reduce/cpu:planted_late"});
  EXPECT_EQ(o.exit_code, 3);
  const auto& late = record_of(o, "reduce/cpu:planted_late");
  EXPECT_EQ(late["status"], "wrong");
  EXPECT_EQ(late["reason"], "the result was right before the timing and differs after it");
  EXPECT_TRUE(late["timing"].is_null());
  for (const auto& ratio : record_of(o, "reduce/serial")["ratios"]) EXPECT_NE(ratio["to"], "reduce/cpu:planted_late");
}

TEST(LabBench, AFailureIsARecordAndCostsNobodyElse) {
  plant();
  const outcome o = bench({"reduce/serial", "reduce/cpu:planted_throw"});
  EXPECT_EQ(o.exit_code, 4);
  EXPECT_EQ(record_of(o, "reduce/cpu:planted_throw")["status"], "failed");
  EXPECT_EQ(record_of(o, "reduce/cpu:planted_throw")["reason"], "planted");
  EXPECT_EQ(record_of(o, "reduce/serial")["status"], "ok");
  EXPECT_TRUE(is_valid(o.file));
}

TEST(LabBench, RecordsAreValidHotAndCold) {
  for (const char* mode : {"hot", "cold"}) {
    const outcome o = bench({"scan", "--mode", mode, "--variant", "scan/serial"});
    EXPECT_EQ(o.exit_code, 0);
    ASSERT_EQ(o.records.size(), 2u) << "the row and the copy";
    EXPECT_EQ(o.records[0]["case"]["mode"], mode);
    EXPECT_EQ(o.records[0]["status"], "ok");
    EXPECT_EQ(o.records[1]["case"]["variant"], "copy/cpu");
    EXPECT_EQ(o.records[0]["ratios"].size(), 1u);
    EXPECT_TRUE(is_valid(o.file));
  }
}

TEST(LabBench, RanksAreInTheRecordsOfGroupsOnly) {
  const outcome o = bench(
      {"reduce/serial", "reduce/group", "--dtype", "f32", "--device", "3*cpu:serial", "--device", "1*cpu:serial"});
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_TRUE(is_valid(o.file));
  EXPECT_FALSE(record_of(o, "reduce/serial").contains("ranks"));
  for (const auto& record : o.records) {
    const std::string device = record["device"]["name"];
    if (record["case"]["backend"] != "group") continue;
    const auto& ranks = record["ranks"];
    EXPECT_EQ(ranks["count"], device.front() - '0');
    EXPECT_EQ(ranks["transport"], "threads");
    EXPECT_EQ(ranks["latency_ns"].is_null(), device == "1*cpu:serial");
    EXPECT_EQ(ranks["sent_bytes"].is_null(), record["verify"].is_null()) << "a limit's exchanges are not metered";
    if (!record["verify"].is_null()) {
      EXPECT_EQ(ranks["sent_bytes"] > 0, device == "3*cpu:serial");
    }
  }
  nlohmann::json of_one_device = record_of(o, "reduce/serial");
  of_one_device["ranks"] = record_of(o, "reduce/group")["ranks"];
  std::ofstream(o.file) << of_one_device.dump() << "\n";
  EXPECT_FALSE(is_valid(o.file));
}

TEST(LabBench, NothingThatFitsTheMemoryIsExitCode5) {
  const outcome o = bench({"scan/serial"}, std::to_string(std::uint64_t{1} << 44));
  EXPECT_EQ(o.exit_code, 5);
  ASSERT_EQ(o.records.size(), 2u) << "the row and the copy";
  EXPECT_EQ(o.records[0]["status"], "skipped");
  EXPECT_TRUE(is_valid(o.file));
}

TEST(LabBench, TooMuchMemoryIsARecordWithoutATime) {
  registry::problem p{.what = &registry::find_algorithm("scan"), .shape = {std::uint64_t{1} << 44}};
  const group giant{p, "cpu", {{&registry::reference_of(*p.what), backend::find_device("cpu", {})}}};
  std::vector<measured> seen;
  bench_events events;
  events.on_group = [&](const group&, std::span<const measured> rows) {
    seen.insert(seen.end(), rows.begin(), rows.end());
  };
  run_bench(std::span(&giant, 1), {}, events);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].result.state, record::status::skipped);
  EXPECT_EQ(seen[0].failure, errc::out_of_memory);
  EXPECT_TRUE(seen[0].result.reason->starts_with("memory: the host would need ")) << *seen[0].result.reason;
  EXPECT_FALSE(seen[0].result.timing);
}

}  // namespace
}  // namespace tilewise::lab
