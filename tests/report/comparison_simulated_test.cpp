// SPDX-License-Identifier: Apache-2.0
// How often a comparison's verdict is correct on simulated machines: quiet, noisy, shifted from run to run, shared.
#include "lab/bench/measured.hpp"
#include "lab/time/rounds.hpp"
#include "lab/time/statistics.hpp"
#include "report/compare/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

namespace tilewise::report {
namespace {

/// Times as on real machines: skewed, with outliers, and with a common shift of a whole run.
class simulated_machine {
 public:
  simulated_machine(double least_noise, double most_noise) : least_noise_(least_noise), most_noise_(most_noise) {}

  /// Cases in groups of five. A group's common shift in a run is a part of the noise floor that is recorded.
  row_table run(int cases, double ns, bool is_shifted) {
    record::results records;
    double shift = 0;
    for (int i = 0; i < cases; ++i) {
      if (i % 5 == 0 && is_shifted) shift = uniform(-1, 1);
      const double share = std::fmod(i * 0.618, 1);  // a case has the same noise in the next run
      record::result& r = records.emplace_back(measure(ns, least_noise_ + share * (most_noise_ - least_noise_), shift));
      r.what.algorithm = "scan";
      r.what.group = "group " + std::to_string(i / 5);
      r.what.variant = "scan/" + std::to_string(i);
    }
    return row_table(records);
  }

  /// Groups of a peer, a limit and three rows of ours, whose times are multiplied by `ours`. Other load sometimes takes
  /// a share of the machine for the time of one row.
  row_table run_beside_others(int cases, double share_of_rows, double ours = 1) {
    record::results records;
    for (int i = 0; i < cases; ++i) {
      const double taken = uniform(0, 1) < share_of_rows ? uniform(1.1, 2) : 1;
      record::result& r = records.emplace_back(measure(1e6 * taken * (i % 5 < 2 ? 1 : ours), least_noise_, 0));
      r.what.algorithm = i % 5 == 1 ? "copy" : "scan";
      r.what.peer = i % 5 == 0;
      r.what.group = "group " + std::to_string(i / 5);
      r.what.variant = r.what.algorithm + "/" + std::to_string(i);
    }
    return row_table(records);
  }

  /// Only rows of ours, visited once or twice. Each visit is shifted by up to a share, and one in a hundred takes three
  /// times as long.
  row_table run_in_visits(int cases, bool twice, double most_shift) {
    record::results records;
    const auto visit = [&] {
      return measure(1e6 * uniform(1, 1 + most_shift) * (uniform(0, 1) < 0.01 ? 3 : 1), least_noise_, 0);
    };
    for (int i = 0; i < cases; ++i) {
      record::result& r = records.emplace_back(visit());
      if (twice) {
        const record::clock first = *std::exchange(r, visit()).timing->kernel;
        r.noise->visits_effect.emplace(lab::visits_effect(first, *r.timing->kernel));
        r.timing->kernel = lab::joined(first, *r.timing->kernel);
      }
      r.what.algorithm = "scan";
      r.what.group = "group " + std::to_string(i);
      r.what.variant = "scan/" + std::to_string(i);
    }
    return row_table(records);
  }

  /// Only rows of ours, in several runs of one build. A shift of up to a share affects a row for a whole run, in both
  /// visits; one row in ten differs between its visits.
  row_table runs(int number, int cases, double most_shift, double ours = 1, double visits_effect = 0) {
    record::results records;
    for (int i = 0; i < number * cases; ++i) {
      record::result& r = records.emplace_back(measure(1e6 * ours * uniform(1, 1 + most_shift), least_noise_, 0));
      r.noise->visits_effect.emplace(i % 10 == 0 ? visits_effect : 0);
      r.tool.commit = "0000000";
      r.what.algorithm = "scan";
      r.what.group = "group " + std::to_string(i % cases);
      r.what.variant = "scan/" + std::to_string(i % cases);
    }
    return row_table(records);
  }

  /// Groups of a row of ours, two peers and a limit in turns, on a shared machine: other load slows all samples of a
  /// run by up to twice, and those of a round by up to half.
  row_table run_in_turns(int number, double ours = 1) {
    record::results records;
    for (int i = 0; i < number; ++i) {
      const double of_run = uniform(1, 2);
      std::array<std::vector<double>, 4> ns;
      for (int round = 0; round < 40; ++round) {
        const double load = of_run * uniform(1, 1.5);
        for (std::size_t k = 0; k < ns.size(); ++k)
          ns[k].push_back(samples(1e6, 0.02).ns[0] * load * (k == 0 ? ours : 1));
      }
      for (std::size_t k = 0; k < ns.size(); ++k) {
        record::result& r = records.emplace_back(record_of_turn(ns, k));
        r.noise->visits_effect.emplace(uniform(0, 0.4));
        r.what.group = "group " + std::to_string(i);
      }
    }
    return row_table(records);
  }

 private:
  static record::result record_of_turn(const std::array<std::vector<double>, 4>& ns, std::size_t k) {
    constexpr std::array names{"scan/cpu", "scan/cpu:one", "scan/cpu:two", "copy/cpu"};
    record::result r;
    r.what.algorithm = k == 3 ? "copy" : "scan";
    r.what.variant = names[k];
    r.what.peer = k == 1 || k == 2;
    r.device.name = "cpu";
    r.noise = {1, 0.01};
    lab::series taken;
    taken.ns = ns[k];
    r.timing.emplace().kernel = lab::clock_of(taken);
    r.verify.emplace().ok = true;
    for (std::size_t other = 0; other < ns.size(); ++other) {
      const auto ratio = lab::ratio_of(ns[other], ns[k]);
      if (other != k) r.ratios.push_back({names[other], "cpu", "", ratio->median, ratio->ci95->lo, ratio->ci95->hi});
    }
    return r;
  }

  double uniform(double low, double high) { return std::uniform_real_distribution(low, high)(random_); }

  record::result measure(double ns, double noise, double shift) {
    lab::series taken = samples(ns, noise);
    const auto floor = lab::noise_between(taken, samples(ns, noise));
    for (double& sample : taken.ns) sample *= 1 + shift * floor->min_effect;
    record::result r;
    r.noise = {floor->aa_median_ratio, floor->min_effect};
    r.timing.emplace().kernel = lab::clock_of(taken);
    r.verify.emplace().ok = true;
    return r;
  }

  /// Times from a gamma distribution with this standard deviation, with three outliers in a hundred.
  lab::series samples(double ns, double noise) {
    lab::series taken;
    const int count = std::uniform_int_distribution(20, 120)(random_);
    for (int i = 0; i < count; ++i) {
      const double late = std::gamma_distribution(4.0, noise / 2)(random_);
      taken.ns.push_back(ns * (1 + late) * (uniform(0, 1) < 0.03 ? uniform(1.1, 3) : 1));
    }
    return taken;
  }

  std::mt19937_64 random_{20261123};
  double least_noise_, most_noise_;
};

TEST(ComparisonSimulated, FewOfFourHundredEqualPairsAreCalledDifferent) {
  simulated_machine machine(0.005, 0.05);
  const row_table before = machine.run(400, 1e6, false), after = machine.run(400, 1e6, true);
  const comparison c = compare(before, after);
  ASSERT_EQ(c.cases.size(), 400u);
  const std::size_t alarms = c.count(verdict::slower) + c.count(verdict::faster);
  RecordProperty("alarms", static_cast<int>(alarms));
  EXPECT_LE(alarms, 20u);
}

TEST(ComparisonSimulated, ANeighbourIsNoChangeThoughOnlyOtherGroupsShowIt) {
  simulated_machine machine(0.005, 0.005);
  const row_table before = machine.run_beside_others(4000, 0.1), after = machine.run_beside_others(4000, 0.1);
  const comparison c = compare(before, after);
  const auto alarms = std::count_if(c.cases.begin(), c.cases.end(), [](const compared_case& of) {
    return !of.after->peer && !of.after->is_limit() && (of.is == verdict::slower || of.is == verdict::faster);
  });
  RecordProperty("alarms", static_cast<int>(alarms));
  EXPECT_LE(alarms, 144) << "5 % of 2,400, by chance 6";
  EXPECT_GT(c.count(verdict::same), 2000u) << "times that agree are the same on any machine";
  ASSERT_EQ(c.remarks.size(), 1u);
  EXPECT_TRUE(c.remarks.front().starts_with("NOISY: on  differences below ")) << c.remarks.front();
}

TEST(ComparisonSimulated, WhatMovesAVisitIsNoChange) {
  const auto alarms = [](bool twice) {
    simulated_machine machine(0.005, 0.005);
    const row_table before = machine.run_in_visits(400, twice, 0.06), after = machine.run_in_visits(400, twice, 0.06);
    const comparison c = compare(before, after);
    return c.count(verdict::slower) + c.count(verdict::faster);
  };
  EXPECT_LE(alarms(true), 2u);
  EXPECT_GE(alarms(false), 100u) << "one visit does not know";
}

TEST(ComparisonSimulated, WhatMovesARunIsNoChangeOfSeveral) {
  const auto alarms = [](int runs, double most_shift) {
    simulated_machine machine(0.005, 0.005);
    const row_table before = machine.runs(runs, 400, most_shift), after = machine.runs(runs, 400, most_shift);
    const comparison c = compare(before, after);
    return c.count(verdict::slower) + c.count(verdict::faster);
  };
  EXPECT_GE(alarms(1, 0.06), 100u) << "one run does not know";
  EXPECT_LE(alarms(2, 0.06), 4u);
  EXPECT_LE(alarms(2, 0.3), 4u);
  simulated_machine machine(0.005, 0.005);
  const row_table before = machine.runs(2, 100, 0.005), after = machine.runs(2, 100, 0.005, 1.03);
  EXPECT_GE(compare(before, after).count(verdict::slower), 95u);
}

TEST(ComparisonSimulated, OfOneRunEachOnlyWhatHardlyAnyVisitsDifferByIsAChange) {
  const auto alarms = [](double ours, double visits_effect) {
    simulated_machine machine(0.005, 0.005);
    const row_table before = machine.runs(1, 400, 0.3, 1, visits_effect), after = machine.runs(1, 400, 0.3, ours);
    return compare(before, after).count(verdict::slower);
  };
  EXPECT_GE(alarms(1, 0), 100u) << "with visits that agree nothing is known of runs";
  EXPECT_EQ(alarms(1, 0.35), 0u);
  EXPECT_GE(alarms(2.5, 0.35), 380u) << "a large change is one of any run";
  simulated_machine machine(0.005, 0.005);
  const row_table before = machine.runs(1, 100, 0.005), after = machine.runs(1, 100, 0.005, 1.03);
  EXPECT_GE(compare(before, after).count(verdict::slower), 95u) << "where all visits agree 3 % are found";
}

TEST(ComparisonSimulated, OnASharedMachineRowsInTurnsFindWhatTimesHide) {
  simulated_machine machine(0.02, 0.02);
  int alarmed = 0;
  for (int look = 0; look < 20; ++look) {
    const row_table before = machine.run_in_turns(30), after = machine.run_in_turns(30);
    const comparison c = compare(before, after);
    alarmed += c.count(verdict::slower) + c.count(verdict::faster) > 0;
  }
  RecordProperty("alarmed", alarmed);
  EXPECT_LE(alarmed, 1) << "of 20 pairs of looks at one commit";
  const row_table before = machine.run_in_turns(100), after = machine.run_in_turns(100, 1.2);
  const std::size_t found = compare(before, after).count(verdict::slower);
  RecordProperty("found", static_cast<int>(found));
  EXPECT_GE(found, 95u) << "of 100 rows that became 20 % slower";
}

TEST(ComparisonSimulated, OneRunInEitherFileIsJudgedAsOneRunEach) {
  for (const auto& [olds, news] : {std::pair(1, 2), std::pair(2, 1)}) {
    simulated_machine machine(0.005, 0.005);
    const row_table before = machine.runs(olds, 400, 0.3, 1, 0.1), after = machine.runs(news, 400, 0.3, 1, 0.1);
    const comparison c = compare(before, after), other_way_round = compare(after, before);
    for (const compared_case& of : c.cases) ASSERT_GT(of.noise_floor, of.usual_noise) << olds << " and " << news;
    EXPECT_EQ(c.count(verdict::slower), other_way_round.count(verdict::faster)) << olds << " and " << news;
    EXPECT_EQ(c.count(verdict::faster), other_way_round.count(verdict::slower)) << olds << " and " << news;
  }
}

TEST(ComparisonSimulated, OnAQuietMachinePeersAndLimitsHideNoChange) {
  simulated_machine machine(0.005, 0.005);
  const row_table before = machine.run_beside_others(250, 0), after = machine.run_beside_others(250, 0, 1.03);
  const comparison c = compare(before, after);
  EXPECT_GE(c.count(verdict::slower), 143u) << "95 % of 150";
  EXPECT_TRUE(c.remarks.empty()) << c.remarks.front();
}

TEST(ComparisonSimulated, ThreePercentAreFoundInOnePercentOfNoise) {
  simulated_machine machine(0.005, 0.01);
  const row_table before = machine.run(100, 1e6, false), after = machine.run(100, 1.03e6, false);
  const std::size_t slower = compare(before, after).count(verdict::slower);
  const std::size_t faster = compare(after, before).count(verdict::faster);
  RecordProperty("slower", static_cast<int>(slower));
  EXPECT_GE(slower, 95u);
  EXPECT_EQ(faster, slower) << "the other way round it is the same question";
}

TEST(ComparisonSimulated, TheMeansIntervalHoldsTheTruth) {
  simulated_machine machine(0.005, 0.05);
  int held = 0;
  double widest = 0;
  for (int i = 0; i < 100; ++i) {
    const row_table before = machine.run(20, 1e6, false), after = machine.run(20, 1.02e6, true);
    const interval mean = mean_of(compare(before, after).cases, false)->value;
    held += *mean.low <= 1.02 && 1.02 <= *mean.high;
    widest = std::max(widest, *mean.high / *mean.low);
  }
  RecordProperty("held", held);
  EXPECT_GE(held, 95);
  EXPECT_LT(widest, 1.1) << "and is of use";
}

}  // namespace
}  // namespace tilewise::report
