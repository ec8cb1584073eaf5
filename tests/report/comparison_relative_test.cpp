// SPDX-License-Identifier: Apache-2.0
// Comparisons by times relative to the peers that ran in turns with a row: what other load does to both is no change.
#include "comparison_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace tilewise::report {
namespace {

using nlohmann::json;

constexpr int group_count = 20;
const std::array<std::string, 5> in_turns{"scan/cpu", "scan/cpu:one", "scan/cpu:two", "scan/cpu:three", "copy/cpu"};
using times = std::array<double, in_turns.size()>;

json ratio_to(const std::string& variant, double median, double spread) {
  return {{"to", variant},
          {"device", "cpu"},
          {"tuning", ""},
          {"median", median},
          {"ci95_lo", median / (1 + spread)},
          {"ci95_hi", median * (1 + spread)}};
}

/// Groups of a row of ours, three peers and a limit. Their times are known to 30 %, and differ by as much between
/// visits; their ratios are known to half a percent.
std::vector<json> run_of(const times& ms) {
  const std::vector<json> made_up = made_up_records();
  std::vector<json> records;
  for (int g = 0; g < group_count; ++g)
    for (std::size_t i = 0; i < in_turns.size(); ++i) {
      json& r = records.emplace_back(made_up[1]);
      r["case"]["group"] = "scan.f32 n=" + std::to_string(1000 + g) + " @cpu";
      r["case"]["variant"] = in_turns[i];
      r["case"]["algorithm"] = in_turns[i].substr(0, 4);
      r["case"]["peer"] = i > 0 && i < 4;
      r["case"]["tuning"] = "";
      r["device"]["name"] = r["device"]["backend"] = r["case"]["backend"] = "cpu";
      json& kernel = r["timing"]["kernel"];
      kernel["median_ns"] = ms[i] * 1e6, kernel["ci95_lo_ns"] = ms[i] * 0.77e6, kernel["ci95_hi_ns"] = ms[i] * 1.3e6;
      r["noise"] = {{"aa_median_ratio", 1.0}, {"min_effect", 0.01}, {"visits_effect", 0.3}};
      r["ratios"] = json::array();
      for (std::size_t other = 0; other < in_turns.size(); ++other)
        if (other != i) r["ratios"].push_back(ratio_to(in_turns[other], ms[other] / ms[i], 0.005));
    }
  return records;
}

constexpr times usual_ms{1, 2, 3, 4, 5};

times scaled(const times& all, double ours, double others) {
  times now = all;
  for (double& ms : now) ms *= &ms == &now.front() ? ours : others;
  return now;
}

const compared_case& ours_of(const compared_runs& c) { return c.of(run_of(usual_ms).front()); }

TEST(ComparisonRelative, ADriftOfTheMachineIsNoChange) {
  for (const double drift : {1.5, 1 / 1.5}) {
    const compared_runs c(run_of(usual_ms), run_of(scaled(usual_ms, drift, drift)));
    EXPECT_EQ(c.result.count(verdict::slower) + c.result.count(verdict::faster), 0u);
    EXPECT_EQ(ours_of(c).is, verdict::same);
    ASSERT_TRUE(ours_of(c).relative);
    EXPECT_NEAR(ours_of(c).relative->ratio.median, 1, 1e-9);
    EXPECT_NEAR(ours_of(c).ratio->median, drift, 1e-9) << "the time's is still that of the times";
  }
}

TEST(ComparisonRelative, AChangeOfOursAloneIsFoundThoughTimesAreInDoubt) {
  for (const double drift : {1.0, 1.5, 0.7}) {
    const compared_runs c(run_of(usual_ms), run_of(scaled(usual_ms, 1.2 * drift, drift)));
    EXPECT_EQ(c.result.count(verdict::slower), std::size_t{group_count}) << drift;
    EXPECT_EQ(ours_of(c).relative->to, "scan/cpu:one");
    EXPECT_NEAR(ours_of(c).relative->ratio.median, 1.2, 1e-9);
    EXPECT_NEAR(*ours_of(c).relative->ratio.high, 1.2 * std::exp(std::log(1.005) * std::sqrt(2)), 1e-9);
    EXPECT_EQ(c.result.count(verdict::faster), 0u);
    const compared_runs back(run_of(scaled(usual_ms, 1.2 * drift, drift)), run_of(usual_ms));
    EXPECT_EQ(back.result.count(verdict::faster), std::size_t{group_count}) << drift;
  }
}

TEST(ComparisonRelative, ThePeerWithTheNarrowestIntervalCounts) {
  std::vector<json> olds = run_of(usual_ms), news = run_of(scaled(usual_ms, 1.2, 1));
  for (std::vector<json>* run : {&olds, &news})
    run->front()["ratios"][1]["ci95_hi"] = run->front()["ratios"][1]["median"];
  const compared_runs c(olds, news);
  EXPECT_EQ(ours_of(c).relative->to, "scan/cpu:two");
}

/// Peers that differ among themselves tell how badly ratios repeat.
TEST(ComparisonRelative, PeersAndLimitsShowTheNoiseOfRatios) {
  times news = scaled(usual_ms, 1.2, 1);
  news[1] *= 1.15;
  const compared_runs c(run_of(usual_ms), run_of(news));
  EXPECT_EQ(ours_of(c).is, verdict::unclear);
  EXPECT_GT(ours_of(c).relative ? ours_of(c).relative->noise_floor : 1, 0.14);
  std::vector<json> others = run_of(scaled(usual_ms, 1.2, 1)), one = run_of(news);
  std::copy_n(one.begin(), in_turns.size(), others.begin());
  EXPECT_EQ(compared_runs(run_of(usual_ms), others).result.count(verdict::slower), std::size_t{group_count - 1});
}

/// Load slows a copy otherwise than the rest, which tells something of its group alone.
TEST(ComparisonRelative, ADisturbedLimitCountsInItsGroupAlone) {
  std::vector<json> news = run_of(scaled(usual_ms, 1.2, 1));
  times disturbed = scaled(usual_ms, 1.2, 1);
  disturbed.back() *= 9;
  const std::vector<json> others = run_of(disturbed);
  std::copy_n(others.begin(), 4 * in_turns.size(), news.begin());
  const compared_runs c(run_of(usual_ms), news);
  EXPECT_EQ(ours_of(c).is, verdict::unclear);
  EXPECT_EQ(c.result.count(verdict::slower), std::size_t{group_count - 4});
}

TEST(ComparisonRelative, ADifferenceFromOnePeerOfThreeIsNoChange) {
  std::vector<json> news = run_of(usual_ms);
  for (json& r : news)
    for (json& q : r["ratios"])
      if (r["case"]["variant"] == "scan/cpu" && q["to"] == "scan/cpu:one") q = ratio_to("scan/cpu:one", 2 / 1.3, 0.001);
  const compared_runs c(run_of(usual_ms), news);
  EXPECT_EQ(ours_of(c).is, verdict::unclear);
  EXPECT_NE(ours_of(c).why.find("most peers"), std::string::npos);
  EXPECT_EQ(c.result.count(verdict::slower), 0u);
  EXPECT_EQ(mean_of(c.result.cases, false)->rows, std::size_t{group_count}) << "they count as all others do";
}

TEST(ComparisonRelative, WithoutValidRatiosTimesAreJudged) {
  const std::vector<json> olds = run_of(usual_ms);
  const auto relative_with = [&](auto&& change) {
    std::vector<json> news = run_of(scaled(usual_ms, 1.2, 1));
    for (json& r : news) change(r);
    const compared_runs c(olds, news);
    EXPECT_EQ(c.result.count(verdict::slower), 0u);
    return ours_of(c).relative.has_value();
  };
  EXPECT_FALSE(relative_with([](json& r) { r["ratios"] = json::array(); }));
  EXPECT_FALSE(relative_with([](json& r) { r["case"]["peer"] = false; })) << "a limit is no peer";
  EXPECT_FALSE(relative_with([](json& r) { r["derived"]["plausible"] = r["case"]["peer"] == false; }));
  const auto with_ratio = [&](const char* key, const json& value) {
    return relative_with([&](json& r) {
      for (json& q : r["ratios"]) q[key] = value;
    });
  };
  for (const json& bad : {json(), json(0.0), json(-1.0), json("1")}) {
    EXPECT_FALSE(with_ratio("median", bad)) << bad;
    EXPECT_FALSE(with_ratio("ci95_lo", bad)) << bad;
    EXPECT_FALSE(with_ratio("ci95_hi", bad)) << bad;
  }
}

TEST(ComparisonRelative, ARowWithoutAnIntervalIsJudgedByItsRatio) {
  std::vector<json> olds = run_of(usual_ms), news = run_of(scaled(usual_ms, 1.2, 1));
  for (std::vector<json>* run : {&olds, &news})
    for (json& r : *run) r["timing"]["kernel"]["ci95_lo_ns"] = r["timing"]["kernel"]["ci95_hi_ns"] = json();
  EXPECT_EQ(compared_runs(olds, news).result.count(verdict::slower), std::size_t{group_count});
}

TEST(ComparisonRelative, RatiosOfSeveralRunsAreJoined) {
  times again = usual_ms;
  again[0] /= 1.1;
  std::vector<json> olds = run_of(usual_ms), others = run_of(again);
  const std::vector<json> news = run_of(scaled(usual_ms, 1.5, 1));
  const auto joined = [&] {
    std::vector<json> both = olds;
    both.insert(both.end(), others.begin(), others.end());
    return both;
  };
  const compared_runs c(joined(), news);
  EXPECT_EQ(c.result.before.most_runs, 2u);
  EXPECT_EQ(ours_of(c).is, verdict::slower);
  EXPECT_EQ(ours_of(c).relative->to, "scan/cpu:one");
  EXPECT_NEAR(ours_of(c).relative->ratio.median, 1.5 * std::sqrt(1.1), 1e-9) << "of the geometric mean of 2 and 2.2";
  EXPECT_LT(*ours_of(c).relative->ratio.low, 1.5) << "of either run";
  EXPECT_GT(*ours_of(c).relative->ratio.high, 1.65);
  others.front()["ratios"].erase(0);
  EXPECT_NE(ours_of(compared_runs(joined(), news)).relative->to, "scan/cpu:one") << "one run has no ratio to it";
}

}  // namespace
}  // namespace tilewise::report
