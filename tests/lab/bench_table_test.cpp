// SPDX-License-Identifier: Apache-2.0
// What `bench` prints: complete and correct labels, at most 80 columns, and no winner if the best times are
// implausible.
#include "lab/bench/derive.hpp"
#include "tool/bench/table.hpp"

#include <sstream>

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

lab::measured timed(const std::string& variant, double ns, bool plausible = true) {
  lab::measured m;
  m.result.device.name = "cpu:openmp";
  m.result.what.algorithm = "scan";
  m.result.what.variant = "scan/" + variant;
  m.result.what.shape = {67108865};
  m.result.what.n = 67108865;
  m.result.what.bytes_min = 8.0 * 67108865;
  m.place = variant;
  m.result.verify.emplace().ok = true;
  m.result.timing.emplace().kernel =
      lab::clock_of({.calls_per_sample = 1, .ns = std::vector<double>(10, ns), .failure = {}});
  m.result.derived.emplace().bytes_per_s = m.result.what.bytes_min / ns * 1e9;
  m.result.derived->plausible = plausible;
  return m;
}

TEST(BenchTable, LabelsAreWholeAndLinesHaveAtMost80Columns) {
  lab::measured tuned = timed("opencl:chunked", 1e6, false), failed = timed("cpu:tbb", 1);
  tuned.place = "opencl:0";
  tuned.tuning_changes = "group_size=1024 items=16 chunk=256Ki";
  failed.end(record::status::failed, std::string(200, 'x'));
  failed.place = "cpu";
  const std::string block = cli::bench_block({tuned, failed});
  for (const char* part : {"opencl:chunked @opencl:0\n", "group_size=1024", "items=16", "chunk=256Ki", "cpu:tbb @cpu "})
    EXPECT_NE(block.find(part), block.npos) << part << block;
  EXPECT_EQ(block.find("cpu:openmp"), block.npos) << "the peer brings its own threads" << block;
  std::istringstream lines(cli::bench_heading() + block);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 81u) << line;  // the µ has two bytes
}

TEST(BenchTable, OnlyWhatWasComparedWithTheDefinitionHasItsBits) {
  lab::measured small = timed("cpu", 1e7), large = timed("old", 9e9);
  small.result.verify->reference = "scan/serial";
  large.result.verify->reference = "scan/cpu";
  const std::string verdict = cli::bench_verdict({small, small, large});
  EXPECT_NE(verdict.find("All 2 results in the order have the definition's bits.\n"
                         "1 more, too large for the definition, has the bits of scan/cpu.\n"),
            verdict.npos)
      << verdict;
  EXPECT_NE(cli::bench_verdict({large}).find("No result was compared with the definition.\n"), verdict.npos);
}

TEST(BenchTable, TheFastestIsNamedWhereItIsPlausible) {
  const std::string verdict = cli::bench_verdict({timed("serial", 9e7), timed("cpu", 1e7), timed("old", 9e9, false)});
  EXPECT_NE(verdict.find("Fastest scan of 67,108,865: cpu @cpu, 10.0 ms."), verdict.npos) << verdict;
}

lab::measured of_other(const std::string& variant, std::vector<double> ns, double error = 0) {
  lab::measured m = timed(variant, ns[0]);
  m.result.what.peer = true;
  m.result.what.order = registry::claim::own;
  m.result.verify->max_relative_error = error;
  m.result.timing->kernel = lab::clock_of({.calls_per_sample = 1, .ns = std::move(ns), .failure = {}});
  return m;
}

TEST(BenchTable, APeerCanBeTheFastest) {
  const auto verdict_with = [](std::vector<double> ns) {
    return cli::bench_verdict({timed("cpu", 1e7), of_other("cpu:std", std::move(ns))});
  };
  const std::vector<double> wide{7e6, 8e6, 9e6, 9e6, 9e6, 9e6, 4e7, 4e7, 5e7, 6e7};
  for (const auto& [ns, says] :
       {std::pair{std::vector<double>(10, 2e7), "of 67,108,865: cpu @cpu, 10.0 ms.\n"},
        {std::vector<double>(10, 8e6), "of 67,108,865: cpu:std @cpu:std (peer), 8.00 ms; of ours "},
        {wide, "of 67,108,865: too noisy to say, cpu @cpu, 10.0 ms, or "},
        {{6e6}, "of 67,108,865: too noisy to say, "}})
    EXPECT_NE(verdict_with(ns).find(says), std::string::npos) << verdict_with(ns);
  lab::measured other_problem = of_other("cpu:std", std::vector<double>(10, 8e6));
  other_problem.result.what.settings["op"] = "max";
  EXPECT_NE(cli::bench_verdict({timed("cpu", 1e7), other_problem}).find("Fastest scan of 67,108,865: cpu @cpu"),
            std::string::npos);
  lab::measured ours = timed("cpu", 1e7), rounds = of_other("tf32", std::vector<double>(10, 8e6), 2.4e-4);
  for (lab::measured* m : {&ours, &rounds}) m->result.what.algorithm = "matmul";
  EXPECT_NE(cli::bench_verdict({ours, rounds}).find("Fastest matmul of 67,108,865: cpu @cpu"), std::string::npos);
}

TEST(BenchTable, AWideTimeOfOursIsHeldAgainstOursToo) {
  lab::measured wide = timed("cpu", 1e7);
  wide.result.timing->kernel =
      lab::clock_of({.calls_per_sample = 1, .ns = {7e6, 8e6, 9e6, 1e7, 1e7, 1e7, 1e7, 4e7, 5e7, 6e7}, .failure = {}});
  const std::string verdict = cli::bench_verdict({wide, timed("old", 1.1e7)});
  EXPECT_NE(verdict.find("too noisy to say, cpu @cpu, 10.0 ms, or old @old,\n  11.0 ms."), verdict.npos) << verdict;
}

TEST(BenchTable, RoundsInTurnsDecideThoughTheTimesAreWide) {
  const std::vector<double> wide{7e6, 8e6, 9e6, 9e6, 9e6, 9e6, 4e7, 4e7, 5e7, 6e7};
  const auto verdict_with = [&](double low, double high) {
    lab::measured ours = timed("cpu", 1e7), peer = of_other("cpu:std", wide);
    const double middle = (low + high) / 2;
    ours.result.ratios = {{peer.result.what.variant, peer.result.device.name, "", middle, low, high}};
    peer.result.ratios = {{ours.result.what.variant, ours.result.device.name, "", 1 / middle, 1 / high, 1 / low}};
    return cli::bench_verdict({ours, peer});
  };
  for (const auto& [low, high, says] :
       {std::tuple(1.5, 1.6, "of 67,108,865: cpu @cpu, 10.0 ms.\n"),
        {0.6, 0.7, "of 67,108,865: cpu:std @cpu:std (peer), 9.00 ms; of ours "},
        {0.98, 1.03, "of 67,108,865: cpu @cpu, 10.0 ms, and cpu:std @cpu:std (peer), 9.00\n  ms, alike.\n"},
        {0.9, 1.2, "of 67,108,865: too noisy to say, "}})
    EXPECT_NE(verdict_with(low, high).find(says), std::string::npos) << verdict_with(low, high);
}

TEST(BenchTable, ALimitInDoubtThatIsExceededIsNone) {
  lab::measured fast = timed("cpu", 1e7);
  fast.result.derived->bound_by = record::ceiling::copy;
  for (const auto& [share, says] : {std::pair{2.7, "       -"}, std::pair{0.9, "90.0%?"}}) {
    fast.result.derived->fraction_of_ceiling = share;
    const std::string block = cli::bench_block({fast});
    EXPECT_NE(block.find(says), block.npos) << block;
    EXPECT_EQ(block.find("270"), block.npos) << block;
  }
}

TEST(BenchTable, ImplausibleTimesMakeNobodyElseTheWinner) {
  const std::string verdict = cli::bench_verdict({timed("serial", 9e7), timed("cpu", 1e7, false)});
  EXPECT_EQ(verdict.find("Fastest"), verdict.npos) << verdict;
  EXPECT_NE(verdict.find("No fastest scan of 67,108,865 is named: 1 of 2 times"), verdict.npos) << verdict;
  EXPECT_NE(verdict.find("1 time marked ! cannot be true."), verdict.npos) << verdict;
}

lab::measured with_round_trip(double kernel_ns, std::vector<double> round_trip_ns, std::size_t kernel_samples = 10) {
  lab::measured m = timed("opencl:chunked", kernel_ns);
  m.result.timing->kernel =
      lab::clock_of({.calls_per_sample = 1, .ns = std::vector<double>(kernel_samples, kernel_ns), .failure = {}});
  m.result.timing->round_trip = lab::clock_of({.calls_per_sample = 1, .ns = std::move(round_trip_ns), .failure = {}});
  lab::hold_against_round_trip(m);
  return m;
}

TEST(BenchTable, AKernelLongerThanItsRoundTripIsMarked) {
  EXPECT_TRUE(with_round_trip(1e6, std::vector<double>(10, 1e6)).result.derived->plausible);
  EXPECT_TRUE(
      with_round_trip(1e6, {.9e6, .9e6, .9e6, .9e6, .9e6, .9e6, 1.1e6, 1.1e6, 1.1e6, 1.1e6}).result.derived->plausible)
      << "the interval reaches it";
  EXPECT_TRUE(with_round_trip(1e6, {.8e6, .9e6, 1.1e6}).result.derived->plausible) << "too few for an interval";
  EXPECT_TRUE(with_round_trip(1e6, {.8e6, .9e6}, 1).result.derived->plausible) << "others may have disturbed it";
  EXPECT_FALSE(with_round_trip(1e6, {.8e6, .9e6}, 2).result.derived->plausible);
  for (const std::vector<double>& shorter : {std::vector<double>(10, .9e6), {.8e6, .9e6}}) {
    const lab::measured m = with_round_trip(1e6, shorter);
    EXPECT_FALSE(m.result.derived->plausible);
    EXPECT_NE(cli::bench_block({m}).find("!  "), std::string::npos);
    EXPECT_NE(cli::bench_verdict({m}).find(
                  "are marked ! since the kernel seems to take longer than the round trip that contains it: something"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tilewise::tests
