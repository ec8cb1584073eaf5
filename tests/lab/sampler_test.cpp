// SPDX-License-Identifier: Apache-2.0
// How samples are taken: what is done outside the clock, what ends the warm-up, and which row gets which times. All
// clocks are made up, except one that only checks how long a sleep takes at least.
#include "lab/time/clock.hpp"
#include "lab/time/rounds.hpp"

#include <tilewise/error.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace tilewise::lab {
namespace {

/// Its samples take these times for each call, in turn; further samples take the last time.
contender scripted(std::string name, std::vector<double> ns) {
  return {std::move(name), [ns = std::move(ns), next = std::size_t{0}](std::uint64_t calls) mutable {
            const double one = ns[std::min(next++, ns.size() - 1)];
            return one * static_cast<double>(calls);
          }};
}

std::vector<double> wild(std::size_t samples) {
  std::vector<double> ns;
  for (std::size_t i = 0; i < samples; ++i) ns.push_back(i % 2 == 0 ? 1e6 : 2e6);
  return ns;
}

std::vector<double> steady_and_then_wild() {
  std::vector<double> ns(3, 1e6);
  for (const double one : wild(1000)) ns.push_back(one);
  return ns;
}

TEST(LabWarmUp, EndsWhenThreeTimesAgreeOrTheTimeIsOver) {
  const auto long_enough = static_cast<std::uint64_t>(
      std::max(shortest_sample_ns, shortest_sample_ticks * static_cast<double>(clock_resolution_ns())));
  const struct {
    const char* what;
    std::vector<double> ns;
    bool one_call;
    double max_ns;
    std::uint64_t calls;
    int samples;
  } cases[] = {
      {"three that agree", {1e6}, false, 1e9, 1, 3},
      {"within 5 %", {1.04e6, 1e6, 1.02e6}, false, 1e9, 1, 3},
      {"beyond them", {1.06e6, 1e6, 1e6, 1e6}, false, 1e9, 1, 4},
      {"what settles", {3e6, 2e6, 1e6}, false, 1e9, 1, 5},
      {"never, until the time is over", wild(100), false, 10e6, 1, 7},
      {"short calls",
       {1},
       false,
       1e9,
       std::bit_ceil(long_enough),
       static_cast<int>(std::bit_width(std::bit_ceil(long_enough))) + 2},
      {"short calls, for which there is no time", {10}, false, 1e3, 64, 7},
      {"one call, however short", {10}, true, 1e9, 1, 3},
  };
  for (const auto& c : cases) {
    contender who = scripted(c.what, c.ns);
    who.one_call = c.one_call;
    int samples = 0;
    who.after = [&samples] { ++samples; };
    const calibration found = warm_up(who, c.max_ns);
    EXPECT_EQ(found.calls_per_sample, c.calls) << c.what;
    EXPECT_EQ(samples, c.samples) << c.what;
    const auto last = std::min(static_cast<std::size_t>(samples), c.ns.size()) - 1;
    EXPECT_DOUBLE_EQ(found.ns_per_call, c.ns[last]) << c.what;
  }
}

/// "p" before a sample, "t" for it, and "a" after it.
TEST(LabWarmUp, EverySampleIsPreparedAndComesToRest) {
  std::string done;
  contender who{"", [&done](std::uint64_t calls) {
                  done += 't';
                  return 1e6 * static_cast<double>(calls);
                }};
  who.prepare = [&done] { done += 'p'; };
  who.after = [&done] { done += 'a'; };
  warm_up(who, 1e9);
  EXPECT_EQ(done, "ptaptapta");
  done.clear();
  stop_rule rule;
  rule.min_ns = 0;
  rule.max_samples = 2;
  measure_in_rounds(std::span(&who, 1), rule);
  EXPECT_EQ(done, "ptaptaptaptapta");
}

TEST(LabRounds, WhatIsDoneBeforeASampleTakesItsTimeToo) {
  contender who = scripted("slow to prepare", steady_and_then_wild());
  who.prepare = [] { std::this_thread::sleep_for(std::chrono::milliseconds(8)); };
  stop_rule rule;
  rule.max_ns = 20e6;
  EXPECT_LE(measure_in_rounds(std::span(&who, 1), rule).front().ns.size(), 3u);
}

TEST(LabRounds, EachHasItsOwnTimesAndReasonAndGoesOnWhileOthersDo) {
  stop_rule rule;
  rule.min_ns = 0;
  rule.max_samples = 13;  // odd: the last round is not the first's order
  const std::vector<contender> all{scripted("steady", {1e6}), scripted("wild", wild(10'000)), scripted("slow", {3e6}),
                                   scripted("once", {11e9})};
  const std::vector<series> taken = measure_in_rounds(all, rule);
  EXPECT_EQ(taken[0].ns, std::vector<double>(13, 1e6));
  EXPECT_EQ(taken[2].ns, std::vector<double>(13, 3e6));
  EXPECT_EQ(taken[3].ns, std::vector<double>{11e9}) << "which is all that it may take";
  EXPECT_EQ(taken[0].reason, stop_reason::precision);
  EXPECT_EQ(taken[1].reason, stop_reason::max_samples);
  EXPECT_EQ(taken[2].reason, stop_reason::precision);
  EXPECT_EQ(taken[3].reason, stop_reason::max_time);
}

TEST(LabRounds, WarmingUpTakesAQuarterOfTheTimeAtMost) {
  stop_rule rule;
  rule.max_ns = 2e9;
  std::vector<double> ns{0.1e9, 0.3e9, 0.1e9, 0.3e9};  // the first three are for the warm-up
  ns.push_back(0.7e9);
  const contender who = scripted("never agrees", ns);
  const auto taken = measure_in_rounds(std::span(&who, 1), rule).front();
  EXPECT_EQ(taken.ns, (std::vector<double>{0.3e9, 0.7e9, 0.7e9, 0.7e9}));
}

TEST(LabRounds, AnInterruptIsTheReasonOfThoseThatHadNotEnough) {
  std::size_t last = 0;
  round_hooks hooks;
  hooks.before_sample = [&last](const contender&, std::size_t round) { last = round; };
  hooks.interrupted = [&last] { return last == 12; };
  stop_rule rule;
  rule.min_ns = 0;
  const std::vector<contender> both{scripted("steady", {1e6}), scripted("wild", wild(10'000))};
  const auto taken = measure_in_rounds(both, rule, hooks);
  EXPECT_EQ(taken[0].reason, stop_reason::precision);
  EXPECT_EQ(taken[1].reason, stop_reason::interrupted);
}

TEST(LabRounds, AFailureIsToldWithItsCodeAndIsTheLastOfIts) {
  int calls = 0, told = 0;
  round_hooks hooks;
  hooks.on_failure = [&told](const std::exception&) { ++told; };
  const std::vector<contender> both{{"lost",
                                     [&calls](std::uint64_t) -> double {
                                       if (++calls == 5) throw error(errc::device_lost, "gone");
                                       return 1e6;
                                     }},
                                    scripted("steady", {1e6})};
  const auto taken = measure_in_rounds(both, stop_rule{}, hooks);
  EXPECT_EQ(taken[0].failure_code, errc::device_lost);
  EXPECT_EQ(taken[0].ns.size(), 1u);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(taken[1].failure_code);
}

}  // namespace
}  // namespace tilewise::lab
