// SPDX-License-Identifier: Apache-2.0
// How a file's records of one case are combined: runs of one build are joined, and a fault in any run counts.
#include "comparison_fixture.hpp"

#include <functional>
#include <initializer_list>

namespace tilewise::report {
namespace {

using nlohmann::json;

TEST(ComparisonRuns, OfDifferentBuildsTheLastRecordOfACaseCounts) {
  const auto is_another = [](json& r) { r["tool"]["commit"] = "1111111"; };
  const auto has_changes = [](json& r) { r["tool"]["dirty"] = true; };
  const auto had_no_interval = [](json& r) { r["timing"]["kernel"]["ci95_lo_ns"] = nullptr; };
  for (const std::function<void(json&)>& change :
       {std::function<void(json&)>(is_another), {has_changes}, {had_no_interval}}) {
    std::vector<json> olds = made_up_records(), news = olds;
    news.push_back(ours(news));
    change(ours(news));
    scale(news.back(), 2);
    const compared_runs c(olds, news);
    EXPECT_EQ(c.of(ours(news)).is, verdict::slower);
    ASSERT_EQ(c.result.remarks.size(), 1u);
    EXPECT_TRUE(c.result.remarks.front().starts_with(
        "NEW has 1 record of a case that a later one repeats and that cannot be taken with it: "))
        << c.result.remarks.front();
  }
}

TEST(ComparisonRuns, RunsOfOneBuildAreOneMeasurement) {
  const auto with_runs = [](std::initializer_list<double> factors) {
    std::vector<json> records = made_up_records();
    for (const double factor : factors) {
      records.push_back(ours(records));
      scale(records.back(), factor);
    }
    return records;
  };
  const std::vector<json> one = with_runs({});
  const compared_runs torn(one, with_runs({1.44}));
  const compared_case& found = torn.of(one[1]);
  EXPECT_EQ(found.is, verdict::unclear) << "one of its runs is as fast as OLD's";
  EXPECT_DOUBLE_EQ(found.ratio->median, 1.2);
  EXPECT_LT(*found.ratio->low, 1);
  EXPECT_GT(*found.ratio->high, 1.4);
  EXPECT_NEAR(*found.after->visits_effect, 0.43, 0.01) << "the gap between their intervals";
  EXPECT_EQ(torn.result.after.most_runs, 2u);
  EXPECT_EQ(torn.result.before.most_runs, 1u);
  ASSERT_EQ(torn.result.remarks.size(), 1u);
  EXPECT_TRUE(torn.result.remarks[0].starts_with("NOISY: on cpu differences below 9")) << torn.result.remarks[0];

  std::vector<json> twice_as_slow = with_runs({1.02});
  for (json* r : {&ours(twice_as_slow), &twice_as_slow.back()}) scale(*r, 2);
  const compared_runs apart(with_runs({1.02}), twice_as_slow);
  EXPECT_EQ(apart.of(one[1]).is, verdict::slower) << "between all of them";
  EXPECT_DOUBLE_EQ(apart.of(one[1]).ratio->median, 2);
  EXPECT_DOUBLE_EQ(compared_runs(one, with_runs({3, 2})).of(one[1]).ratio->median, 2) << "the middle one";
}

TEST(ComparisonRuns, TheTwoLaunchesOfARunAreOneRun) {
  const auto with_launches = [](std::size_t number) {
    std::vector<json> records = made_up_records();
    json launch = ours(records);
    launch["case"]["algorithm"] = "launch";
    launch["case"]["variant"] = "launch/cuda";
    records.insert(records.end(), number, launch);
    return records;
  };
  const compared_runs once(with_launches(2), with_launches(4));
  EXPECT_EQ(once.result.before.most_runs, 1u);
  EXPECT_EQ(once.of(with_launches(1).back()).before->runs, 1u);
  EXPECT_EQ(once.result.after.most_runs, 2u);
}

/// The made-up records, with one more record of ours for each change.
std::vector<json> with_runs_that(std::initializer_list<std::function<void(json&)>> changes) {
  std::vector<json> records = made_up_records();
  const json before = ours(records);
  for (const auto& change : changes) change(&change == changes.begin() ? ours(records) : records.emplace_back(before));
  return records;
}

void stays(json&) {}
void is_wrong(json& r) { r["status"] = "wrong"; }
void fails(json& r) { r["status"] = "failed"; }
void is_late(json& r) { r["status"] = "timeout"; }

/// On a CPU the record then lacks its threads.
std::function<void(json&)> untimed(const std::function<void(json&)>& how) {
  return [how](json& r) {
    how(r);
    r["timing"] = nullptr;
    r["case"]["threads"] = nullptr;
  };
}

/// In NEW, whichever run it was; and in OLD, whose case then cannot be compared with.
TEST(ComparisonRuns, WhatWentWrongInOneRunIsNotUndoneByAnother) {
  const std::vector<json> good = made_up_records();
  const compared_runs usual(good, good);
  for (const std::function<void(json&)>& fault :
       {std::function<void(json&)>(is_wrong), untimed(is_wrong), {fails}, untimed(fails), untimed(is_late)})
    for (const std::vector<json>& runs :
         {with_runs_that({fault, stays}), with_runs_that({stays, fault}), with_runs_that({stays, fault, stays}),
          with_runs_that({fault, untimed(fails)})}) {
      const compared_runs now(good, runs), once(runs, good);
      const std::string what = runs[1]["status"];
      EXPECT_EQ(now.of(good[1]).is, verdict::wrong) << what;
      EXPECT_EQ(now.result.cases.size(), usual.result.cases.size()) << what;
      EXPECT_TRUE(now.result.remarks.empty()) << now.result.remarks.front();
      EXPECT_EQ(once.result.cases.size(), usual.result.cases.size() - 1) << "no base: " << what;
      EXPECT_EQ(once.result.left_out.size(), usual.result.left_out.size() + 1) << what;
      EXPECT_TRUE(once.result.remarks.empty()) << once.result.remarks.front();
    }
}

/// The made-up records, with ours on each of these numbers of threads; 0 for a failed row without its threads.
std::vector<json> on_teams(std::initializer_list<unsigned> teams) {
  std::vector<json> records = made_up_records();
  const json one = ours(records);
  for (const unsigned& threads : teams) {
    json& r = &threads == teams.begin() ? ours(records) : records.emplace_back(one);
    r["case"]["threads"] = threads;
    if (threads == 0) untimed(is_late)(r);
  }
  return records;
}

TEST(ComparisonRuns, WhatFailedBeforeItWasTimedIsOfTheTeamsThatNewLacks) {
  const auto failed = [&](std::initializer_list<unsigned> olds, std::initializer_list<unsigned> news) {
    const compared_runs c(on_teams(olds), on_teams(news));
    std::vector<std::string> reasons;
    for (const compared_case& one : c.result.cases)
      if (one.why.starts_with("failed")) reasons.push_back(one.why);
    for (const left_out_case& one : c.result.left_out)
      if (one.why.starts_with("only")) reasons.push_back(one.why);
    return reasons;
  };
  const std::string late = "failed: it did not finish in time", on_2 = late + "; OLD has it on 2 threads",
                    on_4 = late + "; OLD has it on 4 threads";
  using reasons = std::vector<std::string>;
  EXPECT_EQ(failed({2, 4}, {0}), (reasons{on_2, on_4}));
  EXPECT_EQ(failed({2, 4}, {2, 8, 0}), (reasons{late, "only NEW has it"}));
  EXPECT_EQ(failed({2, 4}, {2, 4, 0}), (reasons{on_2, on_4})) << "which of them it was is not known";
  EXPECT_EQ(failed({2, 4}, {2, 4}), reasons{});
}

TEST(ComparisonRuns, OfThemWhatIsWrongIsGraverThanWhatFailed) {
  const std::vector<json> good = made_up_records();
  for (const std::vector<json>& runs : {with_runs_that({is_wrong, fails}), with_runs_that({fails, is_wrong, stays})})
    EXPECT_EQ(compared_runs(good, runs).of(good[1]).why, "the result is wrong");
  EXPECT_EQ(compared_runs(good, with_runs_that({is_late, stays})).of(good[1]).why, "failed: it did not finish in time");
}

TEST(ComparisonRuns, RunsOfOneBuildHaveTheSameBits) {
  const std::vector<json> good = made_up_records();
  const auto has_other_bits = [](json& r) { r["verify"]["digest"] = std::string(32, '1'); };
  const std::vector<json> runs = with_runs_that({has_other_bits, stays});
  EXPECT_EQ(compared_runs(good, runs).of(good[1]).why, "its runs have different digests, for the same input");
  const auto has_no_time_too = [&](json& r) { has_other_bits(r), r["timing"]["kernel"]["ci95_lo_ns"] = nullptr; };
  EXPECT_EQ(compared_runs(good, with_runs_that({has_no_time_too, stays})).of(good[1]).why,
            "its runs have different digests, for the same input");
  const comparison back = compared_runs(runs, good).result;
  EXPECT_TRUE(std::any_of(back.left_out.begin(), back.left_out.end(),
                          [](const left_out_case& c) { return c.why == "OLD has no time of it: it was wrong"; }));
}

TEST(ComparisonRuns, WhatWentWrongInAnotherBuildIsPast) {
  const std::vector<json> good = made_up_records();
  const auto was_another = [](json& r) { untimed(fails)(r), r["tool"]["commit"] = "1111111"; };
  const compared_runs mended(good, with_runs_that({was_another, stays}));
  EXPECT_EQ(mended.of(good[1]).is, verdict::same);
  ASSERT_EQ(mended.result.remarks.size(), 1u);
  EXPECT_EQ(compared_runs(good, with_runs_that({stays, was_another})).of(good[1]).is, verdict::wrong);
}

TEST(ComparisonRuns, ARemarkNamesWhatHolds) {
  const std::vector<json> good = made_up_records();
  const auto reasons = [&](std::initializer_list<std::function<void(json&)>> changes) {
    const comparison c = compared_runs(good, with_runs_that(changes)).result;
    if (c.remarks.size() != 1) return std::to_string(c.remarks.size()) + " remarks";
    const std::size_t begin = c.remarks[0].find(": ") + 2;
    return c.remarks[0].substr(begin, c.remarks[0].find(';') - begin);
  };
  const auto is_another = [](json& r) { r["tool"]["commit"] = "1111111"; };
  const auto has_no_name = [](json& r) { r["tool"]["commit"] = nullptr; };
  const auto has_changes = [](json& r) { r["tool"]["dirty"] = true; };
  const auto is_elsewhere = [](json& r) { r["host"]["hostname"] = "elsewhere"; };
  const auto was_stopped = [](json& r) { r["status"] = "interrupted"; };
  const auto had_no_interval = [](json& r) { r["timing"]["kernel"]["ci95_lo_ns"] = nullptr; };
  EXPECT_EQ(reasons({is_another, stays}), "they are of different builds");
  EXPECT_EQ(reasons({has_no_name, stays}), "one does not name its build");
  EXPECT_EQ(reasons({has_changes, stays}), "one is of uncommitted changes");
  EXPECT_EQ(reasons({is_elsewhere, stays}), "they are of different hardware");
  EXPECT_EQ(reasons({was_stopped, stays}), "one has no time");
  EXPECT_EQ(reasons({had_no_interval, stays}), "one has no interval");
  EXPECT_EQ(reasons({had_no_interval, is_another, stays}), "one has no interval, or they are of different builds");
}

}  // namespace
}  // namespace tilewise::report
