// SPDX-License-Identifier: Apache-2.0
// What `tilewise scale` measures, and that rows of several devices are measured as one group.
#include "backend/cpu/device.hpp"
#include "lab/bench/bench.hpp"
#include "lab/bench/describe.hpp"
#include "lab/bench/operand_sets.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/scale/plan.hpp"
#include "tool/commands.hpp"

#include <gtest/gtest.h>

namespace tilewise::lab {
namespace {

scaling_request on_threads(std::vector<std::string> algorithms, std::uint64_t n) {
  return {.algorithms = std::move(algorithms),
          .on = backend::cpu::make_device("cpu:threads", {.threads = 6, .instruction_set = {}}),
          .threads = 6,
          .n = n};
}
scaling_request on_group(const std::string& name) {
  return {.algorithms = {"scan"},
          .on = backend::find_device(name, {.threads = 3, .instruction_set = {}}),
          .threads = 3,
          .n = 1000};
}

/// "scan/cpu 2" for two threads.
std::vector<std::string> rows_of_teams(const group& g) {
  std::vector<std::string> rows;
  for (const row& r : g.rows)
    if (!is_limit(*r.variant) && r.on->info().name != "cpu:serial")
      rows.push_back(r.id() + " " + (r.on->info().backend == "cpu" ? std::to_string(*threads_of(r)) : r.place()));
  return rows;
}

using names = std::vector<std::string>;

TEST(ScalingPlan, CountsArePowersOfTwoAndBetweenThemAndTheMost) {
  EXPECT_EQ(processor_counts(1), (std::vector<unsigned>{1}));
  EXPECT_EQ(processor_counts(2), (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(processor_counts(4), (std::vector<unsigned>{1, 2, 3, 4}));
  EXPECT_EQ(processor_counts(13), (std::vector<unsigned>{1, 2, 3, 4, 6, 8, 12, 13}));
}

TEST(ScalingPlan, OneProgramRunsOnEachNumberOfThreads) {
  const std::vector<group> plan = make_scaling_plan(on_threads({"scan"}, 100000));
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(rows_of_teams(plan.front()), (names{"scan/cpu 1", "scan/cpu 2", "scan/cpu 3", "scan/cpu 4", "scan/cpu 6"}));
  EXPECT_EQ(plan.front().rows.front().on->info().name, "cpu:serial");
  EXPECT_TRUE(is_limit(*plan.front().rows.back().variant));
}

TEST(ScalingPlan, WhereTheDefinitionTakesSecondsOnlyTheChoiceIsABaseline) {
  const auto baselines = [](std::uint64_t n) {
    std::size_t count = 0;
    const std::vector<group> plan = make_scaling_plan(on_threads({"matmul"}, n));
    for (const row& r : plan.front().rows) count += r.on->info().name == "cpu:serial" && !r.variant->peer;
    return count;
  };
  EXPECT_GT(baselines(512), 2u);
  EXPECT_EQ(baselines(4096), 1u);
}

TEST(ScalingPlan, TheFirstSizeGrowsWithPInWeakScaling) {
  scaling_request wanted = on_threads({"matmul", "diffuse"}, 50);
  wanted.is_weak = true;
  names problems;
  for (const group& g : make_scaling_plan(wanted)) {
    problems.push_back(registry::to_string(g.problem.shape));
    EXPECT_EQ(rows_of_teams(g).size(), 1u);
  }
  EXPECT_EQ(problems, (names{"50x50x50", "100x50x50", "150x50x50", "200x50x50", "300x50x50", "50x50x100", "100x50x100",
                             "150x50x100", "200x50x100", "300x50x100"}));
}

TEST(ScalingPlan, TheUsualSizeIsOneThatNoCacheHolds) {
  const std::vector<group> plan = make_scaling_plan(on_threads({}, 0));
  EXPECT_EQ(plan.size(), registry::algorithms().size());
  const std::uint64_t cache = backend::find_device("cpu", {})->info().cache;
  for (const group& g : plan) {
    const bool is_largest = g.problem.shape == g.problem.what->normal_shapes.back();
    EXPECT_TRUE(is_largest || operand_bytes(g.problem) > cache) << g.name();
  }
}

TEST(ScalingPlan, WhatCannotScaleIsRefused) {
  const auto refused = [](const scaling_request& wanted) -> std::string {
    try {
      make_scaling_plan(wanted);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  scaling_request weak = on_threads({"polymul"}, 100);
  weak.is_weak = true;
  EXPECT_NE(refused(weak).find("polymul has no weak scaling"), std::string::npos);
  weak.algorithms.clear();
  for (const group& g : make_scaling_plan(weak)) EXPECT_NE(g.problem.what->name, "polymul");
  scaling_request alone = on_threads({"scan"}, 100);
  alone.on = backend::find_device("cpu:serial", {});
  EXPECT_NE(refused(alone).find("cpu:serial has one thread"), std::string::npos);
  EXPECT_NE(refused(on_group("1*cpu:serial")).find("has one member"), std::string::npos);
  EXPECT_NE(refused(on_group("cpu:serial+cpu:threads")).find("members of several kinds"), std::string::npos);
  EXPECT_NE(refused(on_threads({"sacn"}, 100)).find("did you mean scan"), std::string::npos);
}

TEST(ScalingPlan, GroupsOfSeveralSizesAlternateInOneGroupOfRows) {
  const std::vector<group> plan = make_scaling_plan(on_group("3*cpu:serial"));
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(rows_of_teams(plan.front()),
            (names{"scan/group 1*cpu:serial", "scan/group 2*cpu:serial", "scan/group 3*cpu:serial"}));
  measuring how;
  how.rule.max_ns = how.rule.min_ns = 1e6;
  names order;
  how.hooks.before_sample = [&](const contender& next, std::size_t round) {
    if (round <= 1) order.push_back(next.name);  // on a busy machine a call may exceed its time before round 1
  };
  std::vector<measured> all;
  bench_events events;
  events.on_group = [&](const group&, std::span<const measured> rows) {
    all.insert(all.end(), rows.begin(), rows.end());
  };
  run_bench(plan, how, events);
  ASSERT_EQ(all.size(), plan.front().rows.size());
  for (const measured& m : all) {
    EXPECT_TRUE(m.is_ok() && m.time() != nullptr) << m.result.what.variant << m.result.reason.value_or("");
    EXPECT_EQ(m.result.what.group, all.front().result.what.group);
    const bool exchanges = m.result.ranks && m.result.ranks->number > 1;
    EXPECT_EQ(exchanges,
              m.result.ranks && m.result.ranks->exchange_ns.value_or(0) > 0 && m.result.ranks->sent_bytes > 0u);
  }
  for (unsigned ranks = 1; ranks <= 3; ++ranks)
    EXPECT_NE(std::find(order.begin(), order.end(), "scan/group @" + std::to_string(ranks) + "*cpu:serial"),
              order.end());
}

TEST(ScalingPlan, ARatioIsToARowThatItsNameTells) {
  measuring how;
  how.rule.max_ns = how.rule.min_ns = 1e6;
  std::vector<measured> all;
  bench_events events;
  events.on_group = [&](const group&, std::span<const measured> rows) {
    all.insert(all.end(), rows.begin(), rows.end());
  };
  run_bench(make_scaling_plan(on_threads({"reduce"}, 1000)), how, events);
  std::size_t to_serial = 0;
  for (const measured& m : all)
    for (const record::ratio& r : m.result.ratios) {
      EXPECT_FALSE(r.to == "reduce/cpu" && r.device == "cpu:threads") << "several rows have that name";
      to_serial += r.to == "reduce/serial";
    }
  EXPECT_GT(to_serial, 3u);
}

}  // namespace
}  // namespace tilewise::lab
