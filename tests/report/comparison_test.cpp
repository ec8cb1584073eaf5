// SPDX-License-Identifier: Apache-2.0
// Two records of the same cases: which are paired, and what is wrong.
#include "comparison_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace tilewise::report {
namespace {

using nlohmann::json;

TEST(Comparison, EqualRecordsAreTheSame) {
  const std::vector<json> records = made_up_records();
  const compared_runs c(records, records);
  EXPECT_TRUE(c.result.remarks.empty()) << c.result.remarks.front();
  EXPECT_EQ(c.result.pairs, records.size());
  EXPECT_EQ(c.result.count(verdict::wrong), 1u) << "what was wrong still is";
  EXPECT_EQ(c.result.count(verdict::unclear), 1u) << "the implausible one";
  EXPECT_EQ(c.result.left_out.size(), 3u) << "skipped, timed out, interrupted";
  EXPECT_EQ(c.result.count(verdict::same), records.size() - 5);
  EXPECT_EQ(c.result.cases.front().is, verdict::wrong);
  EXPECT_EQ(c.result.cases.back().is, verdict::same);
  const auto mean = mean_of(c.result.cases, false);
  ASSERT_TRUE(mean);
  EXPECT_DOUBLE_EQ(mean->value.median, 1);
}

TEST(Comparison, ATimeThatChangedIsFound) {
  const std::vector<json> olds = made_up_records();
  for (const auto& [factor, expected] :
       {std::pair(1.05, verdict::slower), std::pair(1 / 1.05, verdict::faster), std::pair(1.012, verdict::unclear)}) {
    std::vector<json> news = olds;
    scale(ours(news), factor);
    const compared_runs c(olds, news);
    const compared_case& found = c.of(ours(news));
    EXPECT_EQ(found.is, expected) << factor;
    EXPECT_DOUBLE_EQ(found.ratio->median, factor);
    EXPECT_EQ(c.result.count(verdict::same), olds.size() - 6);
  }
}

TEST(Comparison, TheIntervalIsThatOfBothMediansByHand) {
  std::vector<json> olds = made_up_records(), news = olds;
  const auto set = [](json& r, double low, double median, double high) {
    r["timing"]["kernel"]["ci95_lo_ns"] = low;
    r["timing"]["kernel"]["median_ns"] = median;
    r["timing"]["kernel"]["ci95_hi_ns"] = high;
  };
  set(ours(olds), 100 / std::exp(0.04), 100, 100 * std::exp(0.03));
  set(ours(news), 200 / std::exp(0.04), 200, 200 * std::exp(0.03));
  const compared_runs c(olds, news);
  const interval ratio = *c.of(ours(news)).ratio;
  EXPECT_DOUBLE_EQ(ratio.median, 2);
  EXPECT_NEAR(*ratio.low, 2 / std::exp(0.05), 1e-12);  // 3, 4, 5
  EXPECT_NEAR(*ratio.high, 2 * std::exp(0.05), 1e-12);
}

TEST(Comparison, BothNoiseFloorsCount) {
  std::vector<json> olds = made_up_records(), news = olds;
  scale(ours(news), 1.05);
  for (std::vector<json>* noisy : {&olds, &news}) {
    ours(*noisy)["noise"] = {{"aa_median_ratio", 1.0}, {"min_effect", 0.08}};
    EXPECT_EQ(compared_runs(olds, news).of(ours(news)).is, verdict::unclear)
        << "within the noise, which is too large to call it the same";
    ours(*noisy).erase("noise");
    EXPECT_EQ(compared_runs(olds, news).of(ours(news)).is, verdict::slower);
  }
}

/// An implausible time in either file is not compared with.
TEST(Comparison, NothingIsHeldAgainstATimeThatCannotBeTrue) {
  std::vector<json> olds = made_up_records(), news = olds;
  scale(ours(news), 2);
  for (std::vector<json>* impossible : {&olds, &news}) {
    ours(*impossible)["derived"]["plausible"] = false;
    const compared_runs c(olds, news);
    EXPECT_EQ(c.of(ours(news)).is, verdict::unclear);
    EXPECT_EQ(c.of(ours(news)).why, "a time that cannot be true");
    ours(*impossible)["derived"]["plausible"] = true;
  }
}

/// The noise floor, the effect of visits and that of runs are not added up: a change beyond the largest is found.
TEST(Comparison, OfSeveralKindsOfNoiseTheLargestCounts) {
  std::vector<json> olds = made_up_records(), news = olds;
  for (std::vector<json>* run : {&olds, &news})
    for (json& r : *run) r["noise"] = {{"aa_median_ratio", 1.0}, {"min_effect", 0.012}, {"visits_effect", 0.011}};
  scale(ours(news), 1.03);
  const compared_runs c(olds, news);
  EXPECT_NEAR(c.of(ours(news)).noise_floor, std::pow(1.011, 1.8) - 1, 1e-9) << "of one run each";
  EXPECT_EQ(c.of(ours(news)).is, verdict::slower);
}

/// A difference between the visits of one file, which the other file does not have, is no change, whichever file is
/// OLD.
TEST(Comparison, WhicheverFileIsOldTheVerdictIsTheSame) {
  std::vector<json> records = made_up_records();
  json row = ours(records);
  std::vector<json> some, others;
  for (int i = 0; i < 40; ++i) {
    row["case"]["group"] = "group " + std::to_string(i);
    for (std::vector<json>* run : {&some, &others}) {
      json& r = run->emplace_back(row);
      r["noise"] = {{"aa_median_ratio", 1.0}, {"min_effect", 0.01}, {"visits_effect", 0.01}};
    }
  }
  scale(some.front(), 0.01);
  some.front()["noise"]["visits_effect"] = 200;
  const compared_runs there(some, others), back(others, some);
  EXPECT_EQ(there.of(row).is, verdict::same) << "the last row, beside what repeats";
  for (const compared_runs* c : {&there, &back}) {
    EXPECT_EQ(c->of(some.front()).is, verdict::unclear);
    EXPECT_GT(c->of(some.front()).noise_floor, 200);
  }
}

/// A change that the device's own limit shows as well is not the program's.
TEST(Comparison, ALimitOfTheSameDeviceIsAControl) {
  const std::vector<json> olds = made_up_records();
  std::vector<json> news = olds;
  scale(ours(news), 1.2);
  json& limit = *std::find_if(news.begin(), news.end(), [&](const json& r) {
    return r["case"]["group"] == ours(news)["case"]["group"] && r["case"]["algorithm"] == "copy";
  });
  EXPECT_EQ(compared_runs(olds, news).of(ours(news)).is, verdict::slower);
  scale(limit, 1.2);
  const compared_runs c(olds, news);
  EXPECT_EQ(c.of(ours(news)).is, verdict::unclear);
  EXPECT_GT(c.of(ours(news)).noise_floor, 0.15);
  limit["device"]["name"] = "opencl:9";
  limit["device"]["backend"] = "opencl";
  std::vector<json> elsewhere = olds;
  json& before = *std::find_if(elsewhere.begin(), elsewhere.end(), [&](const json& r) {
    return r["case"]["group"] == limit["case"]["group"] && r["case"]["algorithm"] == "copy";
  });
  before["device"]["name"] = "opencl:9";
  before["device"]["backend"] = "opencl";
  EXPECT_EQ(compared_runs(elsewhere, news).of(ours(news)).is, verdict::slower) << "another device's says nothing";
}

TEST(Comparison, WhatBecameWrongIsWrong) {
  std::vector<json> olds = made_up_records();
  ours(olds)["case"]["threads"] = 8u;
  const auto verdict_after = [&](auto&& change) {
    std::vector<json> news = olds;
    change(ours(news));
    return compared_runs(olds, news).of(ours(news)).is;
  };
  EXPECT_EQ(verdict_after([](json& r) { r["status"] = "wrong"; }), verdict::wrong);
  EXPECT_EQ(verdict_after([](json& r) { r["verify"]["ok"] = false; }), verdict::wrong);
  const auto fail = [](json& r, const char* how) {
    r["status"] = how;
    r["timing"] = nullptr;
    r["case"]["threads"] = nullptr;  // a failed row lacks them
  };
  EXPECT_EQ(verdict_after([&](json& r) { fail(r, "failed"); }), verdict::wrong);
  EXPECT_EQ(verdict_after([&](json& r) { fail(r, "timeout"); }), verdict::wrong);
  const auto other_digest = [](json& r) { r["verify"]["digest"] = std::string(32, '1'); };
  EXPECT_EQ(verdict_after(other_digest), verdict::wrong);
  EXPECT_EQ(verdict_after([&](json& r) { other_digest(r), r["case"]["tuning"] = "tile=2"; }), verdict::wrong);
  EXPECT_EQ(verdict_after([&](json& r) { other_digest(r), r["case"]["seed"] = 2u; }), verdict::same);
  EXPECT_EQ(verdict_after([&](json& r) { other_digest(r), r["case"]["order"] = "own"; }), verdict::same);
}

TEST(Comparison, AnotherVersionOfTheOrderHasOtherBits) {
  const std::vector<json> olds = made_up_records();
  std::vector<json> news = olds;
  for (json& r : news) r["tool"]["order_version"] = 2u;
  ours(news)["verify"]["digest"] = std::string(32, '1');
  const compared_runs c(olds, news);
  EXPECT_EQ(c.of(ours(news)).is, verdict::same);
  ASSERT_EQ(c.result.remarks.size(), 1u);
  EXPECT_NE(c.result.remarks.front().find("version of the order"), std::string::npos);
}

TEST(Comparison, WhatOneFileLacksIsLeftOut) {
  const std::vector<json> olds = made_up_records();
  std::vector<json> news = olds;
  news.erase(news.begin() + 1);
  compared_runs fewer(olds, news);
  ASSERT_EQ(fewer.result.left_out.size(), 4u);
  EXPECT_EQ(fewer.result.left_out.back().why, "only OLD has it");
  compared_runs more(news, olds);
  EXPECT_EQ(more.result.left_out.front().why, "only NEW has it");
  std::vector<json> wrong = olds;
  ours(wrong)["status"] = "wrong";
  EXPECT_EQ(compared_runs(news, wrong).of(ours(wrong)).is, verdict::wrong) << "with nothing to compare it with";
  ours(wrong)["status"] = "skipped";
  ours(wrong)["reason"] = "no room";
  EXPECT_EQ(compared_runs(olds, wrong).result.left_out.front().why, "NEW has no time of it: no room");
  EXPECT_EQ(compared_runs(wrong, olds).result.left_out.front().why, "OLD has no time of it: no room");
}

TEST(Comparison, ANewDefaultTuningIsTheSameCaseAndASweepIsMany) {
  const auto tuned = [](const char* tuning) {
    std::vector<json> records = made_up_records();
    ours(records)["case"]["tuning"] = tuning;
    return records;
  };
  std::vector<json> olds = tuned("tile=1"), news = tuned("tile=2");
  EXPECT_EQ(compared_runs(olds, news).of(ours(news)).before->tuning, "tile=1");
  news.push_back(ours(news));
  news.back()["case"]["tuning"] = "tile=3";
  EXPECT_EQ(compared_runs(olds, news).result.left_out.size(), 3u + 3) << "which of them it became is not known";
  news.back()["case"]["tuning"] = "tile=1";
  EXPECT_EQ(compared_runs(olds, news).of(news.back()).is, verdict::same);
  EXPECT_EQ(compared_runs(olds, news).result.left_out.size(), 3u + 1);
  news = olds;
  ours(olds)["case"]["threads"] = 8u;
  ours(news)["case"]["threads"] = 16u;
  EXPECT_EQ(compared_runs(olds, news).result.left_out.size(), 3u + 2) << "other threads are another case";
}

TEST(Comparison, OtherMachinesAndBuildsAreSaid) {
  const std::vector<json> olds = made_up_records();
  const auto said_of = [&](auto&& change) {
    std::vector<json> news = olds;
    for (json& r : news) change(r);
    const comparison c = compared_runs(olds, news).result;
    EXPECT_EQ(c.remarks.size(), 1u);
    return c.remarks.empty() ? "" : c.remarks.front();
  };
  EXPECT_NE(said_of([](json& r) { r["host"]["hostname"] = "elsewhere"; }).find("name of the machine is"),
            std::string::npos);
  EXPECT_NE(said_of([](json& r) { r["host"]["cpu_model"] = "another"; }).find("processor of the machine is"),
            std::string::npos);
  EXPECT_NE(said_of([](json& r) {
              r["host"]["caches"][0]["bytes"] = 1 << 20;
            }).find("cache of the machine is '32.0 MiB' in OLD and '1.00 MiB' in NEW"),
            std::string::npos)
      << "processors of one name";
  EXPECT_NE(said_of([](json& r) {
              if (r["device"]["name"] == "cuda:0") r["device"]["description"] = "Another GPU";
            }).find("hardware of cuda:0 is 'Imaginary GPU 9000' in OLD and 'Another GPU' in NEW"),
            std::string::npos);
  EXPECT_NE(said_of([](json& r) {
              if (r["device"]["name"] == "cuda:0") r["device"]["driver"] = "999";
            }).find("driver of cuda:0"),
            std::string::npos);
  EXPECT_NE(said_of([](json& r) { r["tool"]["build_type"] = "Debug"; }).find("in OLD and 'Debug' in NEW"),
            std::string::npos);
}

TEST(Comparison, ManyDifferencesAreCounted) {
  const std::vector<json> olds = made_up_records();
  std::vector<json> news = olds;
  for (std::size_t i = 0; i < news.size(); ++i)
    news[i]["tool"]["build_type"] = std::string(5000, 'x') + std::to_string(i);
  const comparison c = compared_runs(olds, news).result;
  ASSERT_EQ(c.remarks.size(), 11u);
  for (const std::string& remark : c.remarks) EXPECT_LT(remark.size(), 400u);
  EXPECT_EQ(c.remarks.back(), "DIFFERENT: " + std::to_string(news.size() - 10) + " more facts.");
}

TEST(Comparison, NumbersThatCannotBeIntervalsAreNone) {
  const std::vector<json> olds = made_up_records();
  for (const auto& [key, value] : {std::pair("ci95_lo_ns", json(0)), std::pair("ci95_lo_ns", json(-1e300)),
                                   std::pair("ci95_lo_ns", json(1e300)), std::pair("ci95_hi_ns", json(1e-300)),
                                   std::pair("ci95_hi_ns", json(nullptr)), std::pair("median_ns", json(1e308))}) {
    std::vector<json> news = olds;
    ours(news)["timing"]["kernel"][key] = value;
    const compared_runs c(olds, news);
    EXPECT_EQ(c.of(ours(news)).is, verdict::unclear) << key << value;
    EXPECT_FALSE(c.of(ours(news)).ratio->low);
  }
  std::vector<json> news = olds;
  ours(news)["noise"] = {{"min_effect", -1}};
  EXPECT_EQ(compared_runs(news, news).of(ours(news)).noise_floor, 0.01);
}

TEST(Comparison, WhatPeersDifferByIsNoise) {
  std::vector<json> olds = made_up_records(), news = olds;
  json& peer = a_peer(news);
  ASSERT_EQ(peer["case"]["group"], ours(news)["case"]["group"]);
  scale(ours(news), 1.1);
  scale(peer, 1.2);
  const compared_runs moved(olds, news);
  EXPECT_EQ(moved.of(ours(news)).is, verdict::unclear);
  EXPECT_EQ(moved.of(peer).is, verdict::unclear) << "no change of ours makes a peer slower";
  EXPECT_NEAR(moved.of(ours(news)).noise_floor, *moved.of(peer).ratio->low - 1, 1e-12);
  EXPECT_GT(mean_of(moved.result.cases, true)->value.median, 1.001);
  scale(ours(news), 1.2);
  EXPECT_EQ(compared_runs(olds, news).of(ours(news)).is, verdict::slower) << "by more than the peer";
  scale(ours(news), 1 / 1.2);
  scale(peer, 1 / 1.2 / 1.2);
  EXPECT_NEAR(compared_runs(olds, news).of(ours(news)).noise_floor, 0.2, 0.02) << "a faster peer as well";
  scale(peer, 1.2);
  const compared_runs still(olds, news);
  EXPECT_EQ(still.of(ours(news)).is, verdict::slower);
  EXPECT_DOUBLE_EQ(mean_of(still.result.cases, true)->value.median, 1);
}

TEST(Comparison, AMachineThatWasBusyBeforehandIsSaid) {
  const std::vector<json> olds = made_up_records();
  std::vector<json> news = olds;
  for (json& r : std::span(news).first(2)) {
    r["host"]["threads"] = 2u;
    r["host"]["load_avg_1m"] = 0.6;
  }
  const comparison c = compared_runs(olds, news).result;
  ASSERT_EQ(c.remarks.size(), 1u);
  EXPECT_EQ(c.remarks.front(),
            "BUSY: NEW began at a load of 0.60 on 2 processors; its times may be those of other programs.");
  news[0]["host"]["load_avg_1m"] = 0.4;
  EXPECT_TRUE(compared_runs(olds, news).result.remarks.empty()) << "a run's own load";
}

}  // namespace
}  // namespace tilewise::report
