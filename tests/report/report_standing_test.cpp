// SPDX-License-Identifier: Apache-2.0
// Who is ahead is judged by what ran in turns, else by the intervals of both times, else not at all.
#include "standing_fixture.hpp"

#include <gtest/gtest.h>

namespace tilewise::report {
namespace {

using nlohmann::json;

TEST(ReportStanding, WhatRanInTurnsIsJudgedThoughBothTimesAreInDoubt) {
  const auto judged_with = [](double low, double high, const char* device, bool peer_is_plausible) {
    return on_gpu(scans_with([&](json& r) {
      if (r["device"]["name"] == "cuda:0" && r["status"] == "ok") widen(r);
      if (is_time_of(r, "scan/cuda:cub")) r["derived"]["plausible"] = peer_is_plausible;
      if (!is_time_of(r, "scan/cuda:lookback")) return;
      r["ratios"][0]["device"] = device, r["ratios"][0]["tuning"] = "";
      r["ratios"][0]["median"] = (low + high) / 2, r["ratios"][0]["ci95_lo"] = low, r["ratios"][0]["ci95_hi"] = high;
    }));
  };
  EXPECT_EQ(judged_with(1.5, 1.6, "cuda:0", true).position, position::ahead);
  EXPECT_EQ(speed_text(judged_with(1.2, 1.9, "cuda:0", true)), "1.55") << "one side of 1 is sure";
  EXPECT_EQ(judged_with(0.6, 0.7, "cuda:0", true).position, position::behind);
  EXPECT_EQ(judged_with(0.995, 1.005, "cuda:0", true).position, position::on_a_par);
  EXPECT_EQ(judged_with(0.8, 1.2, "cuda:0", true).position, position::unclear);
  EXPECT_EQ(judged_with(1.5, 1.6, "cuda:1", true).position, position::in_doubt) << "with the peer elsewhere";
  EXPECT_EQ(judged_with(1.5, 1.6, "cuda:0", false).position, position::in_doubt) << "a time that cannot be true";
}

TEST(ReportStanding, OfAPeerThatIsTooSlowToMeasureOftenTheLeastLeadIsTold) {
  const auto slower_by = [](double factor) {
    return scans_with([&](json& r) {
      if (is_time_of(r, "scan/cuda:lookback")) r["ratios"] = json::array(), widen(r);
      if (is_time_of(r, "scan/cuda:cub")) scale(r, factor), r["timing"]["kernel"]["ci95_lo_ns"] = nullptr;
    });
  };
  const standing s = on_gpu(slower_by(20));
  EXPECT_EQ(s.position, position::ahead);
  EXPECT_EQ(speed_text(s).rfind("≥ ", 0), 0u) << speed_text(s);
  EXPECT_NEAR(*s.at_least, s.speed->median / 2 / 1.12, 0.1);
  EXPECT_NE(verdict_of(slower_by(20)).find("on cuda:0: scan ≥ "), std::string::npos);
  EXPECT_EQ(on_gpu(slower_by(1.5)).position, position::in_doubt);
}

TEST(ReportStanding, APeerIsBehindOnAParOrAheadByTheWholeInterval) {
  const auto with_peer = [](double factor) {
    return on_gpu(scans_with([&](json& r) {
             if (is_time_of(r, "scan/cuda:lookback")) r["ratios"] = json::array();
             if (is_time_of(r, "scan/cuda:cub")) scale(r, factor);
           }))
        .position;
  };
  EXPECT_EQ(with_peer(1), position::ahead);
  EXPECT_EQ(with_peer(0.5), position::behind);
  EXPECT_EQ(with_peer(0.965), position::unclear) << "its interval crosses the noise floor";
  const auto together = [](double low, double high) {
    return on_gpu(scans_with([&](json& r) {
             if (!is_time_of(r, "scan/cuda:lookback")) return;
             r["ratios"][0]["device"] = r["device"]["name"];
             r["ratios"][0]["ci95_lo"] = low, r["ratios"][0]["ci95_hi"] = high;
           }))
        .position;
  };
  EXPECT_EQ(together(0.995, 1.005), position::on_a_par);
  EXPECT_EQ(together(0.9, 1.1), position::unclear);
  EXPECT_EQ(together(0.999, 1.04), position::on_a_par) << "of 5 %, beyond the noise floor or not";
  EXPECT_EQ(together(1.002, 2.4), position::ahead) << "other load slows both of a round alike";
  EXPECT_EQ(together(0.5, 0.998), position::behind);
}

TEST(ReportStanding, APeerInDoubtIsNeverAhead) {
  const auto with_wide_peer = [](double slower) {
    return on_gpu(scans_with([&](json& r) {
      if (is_time_of(r, "scan/cuda:lookback")) r["ratios"] = json::array();
      if (!is_time_of(r, "scan/cuda:cub")) return;
      scale(r, slower);
      widen(r);
    }));
  };
  EXPECT_EQ(with_wide_peer(0.5).position, position::in_doubt);
  EXPECT_EQ(with_wide_peer(0.97).position, position::in_doubt);
  EXPECT_EQ(with_wide_peer(3).position, position::ahead) << "by the whole interval of the ratio";
  EXPECT_EQ(with_wide_peer(3).why, "the peer: interval ± 12 %");
  const auto with_few_samples = [](double slower) {
    return on_gpu(scans_with([&](json& r) {
      if (is_time_of(r, "scan/cuda:lookback")) r["ratios"] = json::array();
      if (is_time_of(r, "scan/cuda:cub")) scale(r, slower), r["timing"]["kernel"]["ci95_lo_ns"] = nullptr;
    }));
  };
  EXPECT_EQ(with_few_samples(0.5).position, position::in_doubt) << "it has no interval";
  EXPECT_EQ(with_few_samples(1.5).position, position::in_doubt);
  EXPECT_EQ(with_few_samples(4).position, position::ahead) << "few samples do not differ by so much";
  EXPECT_EQ(with_few_samples(4).why, "the peer: no interval");
  const standing impossible = on_gpu(scans_with([](json& r) {
    if (is_time_of(r, "scan/cuda:lookback")) r["ratios"] = json::array();
    if (is_time_of(r, "scan/cuda:cub")) scale(r, 4), r["derived"]["plausible"] = false;
  }));
  EXPECT_EQ(impossible.position, position::in_doubt) << "a peer's time that cannot be true is not beaten";
  const standing alone = on_gpu(scans_with([](json& r) {
    if (r["case"]["variant"] == "scan/cuda:cub") r["status"] = "failed";
  }));
  EXPECT_EQ(alone.position, position::no_peer);
}

}  // namespace
}  // namespace tilewise::report
