// SPDX-License-Identifier: Apache-2.0
// How a group is measured, tested with variants that record their calls: which operands a call uses, which row is
// measured against itself, and what a record contains if samples failed or were interrupted.
#include "lab/bench/measure.hpp"
#include "lab/bench/operand_sets.hpp"
#include "planted_variant.hpp"
#include "registry/catalog.hpp"

#include <tilewise/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tilewise::lab {
namespace {

const registry::problem& few_numbers() {
  static const registry::problem p{.what = &registry::find_algorithm("reduce"), .type = dtype::i32, .shape = {64}};
  return p;
}

/// For each of three rows, the first output of each call.
std::vector<const void*> calls_of[3];

template <int Row>
void note(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
          backend::queue& queue) {
  calls_of[Row].push_back(where.out[0].as<unsigned char>());
  registry::reference_of(*p.what).run(p, where, t, queue);
}

void fail_when_timed(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                     backend::queue& queue) {
  note<1>(p, where, t, queue);
  if (calls_of[1].size() == 3) throw error(errc::device_lost, "it went away");  // once, during the warm-up
}

/// A serial row, one of ours, and a peer.
struct three_rows {
  registry::variant serial = tests::planted_variant("reduce", "", note<0>),
                    ours = tests::planted_variant("reduce", "ours", note<1>),
                    peer = tests::planted_peer("reduce", "peer", note<2>);

  three_rows() {
    serial.backend = "serial";
    for (auto& calls : calls_of) calls.clear();
  }
  std::vector<measured> measured_with(const measuring& how) const {
    const auto on = backend::find_device("cpu:serial", {});
    const group all{few_numbers(), "cpu", {{&serial, on}, {&ours, on}, {&peer, on}}};
    return measure_group(all, make_case(few_numbers(), data_class::uniform, 1), how);
  }
};

/// Takes this many samples, however long they take.
measuring of_samples(std::size_t count, mode what) {
  measuring how;
  how.rule = {.precision = 0, .min_samples = count, .min_ns = 0, .max_samples = count, .max_ns = 60e9};
  how.what = what;
  how.with_transfers = false;
  return how;
}

TEST(LabMeasure, ColdSamplesAreOfOneCallAndTakeTurnsWithTheirOperands) {
  const std::vector<measured> rows = three_rows().measured_with(of_samples(6, mode::cold));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_TRUE(rows[i].is_ok()) << rows[i].result.reason.value_or("");
    EXPECT_EQ(rows[i].result.timing->kernel->calls_per_sample, 1u);
    EXPECT_EQ(rows[i].result.timing->kernel->n, 6u);
    EXPECT_EQ(std::set<const void*>(calls_of[i].begin(), calls_of[i].end()).size(), cold_sets);
    const auto checked_last = std::prev(calls_of[i].end());
    for (auto call = std::next(calls_of[i].begin(), 2); call != checked_last; ++call)
      EXPECT_TRUE(i == 1 || *call != *std::prev(call)) << "row " << i << " finds what its last call has left";
  }
}

TEST(LabMeasure, TheFirstRowOfOursIsMeasuredAgainstItself) {
  measuring how = of_samples(6, mode::hot);
  std::set<std::string> again;
  how.hooks.before_sample = [&](const contender& next, std::size_t) {
    if (next.name.ends_with(" again")) again.insert(next.name);
  };
  for (const measured& m : three_rows().measured_with(how)) {
    ASSERT_TRUE(m.result.noise.has_value());
    EXPECT_GT(*m.result.noise->aa_median_ratio, 0);
    EXPECT_EQ(m.result.what.threads, 1u);
    EXPECT_EQ(m.result.timing->clock_name, "steady_clock");
  }
  EXPECT_EQ(again, std::set<std::string>{"reduce/cpu:ours @cpu:serial again"});
}

TEST(LabMeasure, RowsThatWereCheckedAreOnlyTimed) {
  measuring how = of_samples(6, mode::cold);
  how.is_checked = true;
  how.hooks.before_sample = [](const contender& next, std::size_t) { EXPECT_FALSE(next.name.ends_with(" again")); };
  for (const measured& m : three_rows().measured_with(how)) {
    EXPECT_FALSE(m.result.verify || m.result.noise);
    EXPECT_EQ(m.time()->n, 6u);
  }
}

TEST(LabMeasure, WhatFailsWhileItIsTimedHasItsCodeAndNoTime) {
  three_rows all;
  all.ours.run = fail_when_timed;
  const std::vector<measured> rows = all.measured_with(of_samples(10, mode::cold));
  EXPECT_EQ(rows[1].result.state, record::status::failed);
  EXPECT_EQ(rows[1].result.reason, "it went away");
  EXPECT_EQ(rows[1].failure, errc::device_lost);
  EXPECT_EQ(rows[1].time(), nullptr);
  EXPECT_TRUE(rows[0].is_ok() && rows[2].is_ok());
}

TEST(LabMeasure, SamplesThatAreInterruptedAreNamedSo) {
  measuring how = of_samples(1000, mode::cold);
  std::size_t last = 0;
  how.hooks.before_sample = [&](const contender&, std::size_t round) { last = round; };
  how.hooks.interrupted = [&] { return last > 3; };
  for (const measured& m : three_rows().measured_with(how)) {
    EXPECT_EQ(m.result.state, record::status::interrupted);
    ASSERT_TRUE(m.result.timing && m.result.timing->kernel) << "what was measured stays";
    EXPECT_LT(m.result.timing->kernel->n, 10u);
  }
}

}  // namespace
}  // namespace tilewise::lab
