// SPDX-License-Identifier: Apache-2.0
// Each group is visited twice, some time apart, and both visits are one record.
#include "lab/plan/visits.hpp"
#include "lab/bench/bench.hpp"
#include "lab/bench/describe.hpp"
#include "lab/time/statistics.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

namespace tilewise::lab {
namespace {

using record::status;

measuring for_ten_seconds_a_row() {
  measuring how;
  how.rule.max_ns = 10e9;
  return how;
}

group sum_of(std::uint64_t n) {
  const auto on = backend::find_device("cpu:serial", {});
  const registry::algorithm& reduce = registry::find_algorithm("reduce");
  return {{.what = &reduce, .shape = {n}},
          "cpu",
          {{&registry::reference_of(reduce), on}, {&registry::reference_of(reduce), on}}};
}

/// "0 1 0' 1' ", where a mark means a last visit.
std::string order_of(std::span<const visit> visits) {
  std::string text;
  for (const visit& v : visits) text += std::to_string(v.group) + (v.is_last ? "' " : " ");
  return text;
}

TEST(LabVisits, AStretchIsVisitedFromItsBeginToItsEndAndThenAgain) {
  const std::vector<group> plan(5, sum_of(1000));
  measuring how = for_ten_seconds_a_row();
  how.rule.max_ns = 1e9;
  EXPECT_EQ(order_of(visits_of(plan, how)), "0 1 2 3 4 0' 1' 2' 3' 4' ");
  how.rule.max_ns = 12e9;  // two rows and one of them again, half of that each time: 21 s a visit
  EXPECT_EQ(order_of(visits_of(plan, how)), "0 1 0' 1' 2 3 2' 3' 4 4' ");
  EXPECT_EQ(order_of(visits_of({}, how)), "");
}

TEST(LabVisits, InputsAreMadeOnceUnlessAVisitHasAProcessOfItsOwn) {
  measuring how = for_ten_seconds_a_row();
  how.rule.max_ns = 1e6;
  const std::vector<group> plan{sum_of(1 << 20), sum_of(1 << 20), sum_of(1 << 19)};
  const auto together = visits_of(plan, how), apart = visits_of(plan, how, true);
  EXPECT_LT(together[1].cost_ns, together[0].cost_ns);
  EXPECT_DOUBLE_EQ(apart[1].cost_ns, apart[0].cost_ns);
  EXPECT_DOUBLE_EQ(together[3].cost_ns, together[1].cost_ns) << "those of the first visit";
}

TEST(LabVisits, TheIntervalReachesToTheMedianOfEachVisit) {
  const std::vector<double> samples{10, 10, 10, 10, 10, 10, 10, 10, 10, 30};
  const std::vector<std::size_t> once{10}, twice{9, 1};
  EXPECT_DOUBLE_EQ(summarize(samples, once).ci95->hi, 10);
  EXPECT_DOUBLE_EQ(summarize(samples, twice).ci95->hi, 30);
  EXPECT_DOUBLE_EQ(summarize(samples, twice).median, 10);
}

/// The rows of sum_of(1000), each with samples of these times in nanoseconds.
std::vector<measured> timed(std::vector<std::vector<double>> ns) {
  std::vector<measured> all = describe_unmeasured(sum_of(1000), for_ten_seconds_a_row(), status::ok, "");
  for (std::size_t i = 0; i < all.size(); ++i) {
    series taken;
    taken.ns = std::move(ns[i]);
    taken.reason = stop_reason::precision;
    all[i].result.timing.emplace().kernel = clock_of(taken);
    all[i].result.noise.emplace().min_effect = taken.ns.front() / 1000;
  }
  return all;
}

TEST(LabVisits, BothVisitsAreOneRecordWhoseRatiosKeepThemApart) {
  std::vector<measured> last = timed({{20, 20}, {80, 80, 80}});
  join(sum_of(1000), timed({{10, 10, 10}, {20, 20}}), last);
  const record::clock& joined = *last[0].time();
  EXPECT_EQ(*joined.samples_ns, (std::vector<double>{10, 10, 10, 20, 20}));
  EXPECT_EQ(*joined.visits, (std::vector<record::count>{3, 2}));
  EXPECT_EQ(joined.n, 5u);
  EXPECT_EQ(joined.stop_reason, "precision");
  EXPECT_EQ(last[0].result.noise->min_effect, 0.02) << "the larger";
  ASSERT_EQ(visits_of(joined).size(), 2u);
  EXPECT_EQ(visits_of(joined)[1].front(), 20);
  EXPECT_EQ(visits_of(joined)[1].size(), 2u);
}

TEST(LabVisits, WhatTheFirstVisitAloneMeasuresStaysAndBothHaveARate) {
  std::vector<measured> first = timed({{10, 10, 10, 10, 10, 10}, {20}}), last = timed({{30, 30, 30, 30, 30, 30}, {20}});
  const auto took = [](double ns) { return clock_of(series{.ns = {ns}}); };
  record::timing &of_first = *first[0].result.timing, &of_last = *last[0].result.timing;
  of_first.h2d = took(1), of_first.d2h = took(2), of_first.round_trip = took(3), of_first.end_to_end = took(4);
  of_first.first_call_ns = 5, of_last.first_call_ns = 6;
  of_first.phases.emplace().kernel.emplace(7), of_last.phases.emplace().kernel.emplace(9);
  first[0].result.ranks.emplace().sent_bytes = 8, last[0].result.ranks.emplace();
  last[1].result.reason = "the last visit's time could not be true";
  join(sum_of(1000), std::move(first), last);
  const record::result& joined = last[0].result;
  EXPECT_EQ(joined.timing->h2d->median_ns, 1);
  EXPECT_EQ(joined.timing->d2h->median_ns, 2);
  EXPECT_EQ(joined.timing->round_trip->median_ns, 3);
  EXPECT_EQ(joined.timing->end_to_end->median_ns, 4);
  EXPECT_EQ(joined.timing->first_call_ns, 5);
  EXPECT_EQ(*joined.timing->phases->kernel, 8) << "the mean";
  EXPECT_EQ(joined.ranks->sent_bytes, 8u);
  EXPECT_EQ(joined.noise->visits_effect, 2) << "three times as long";
  EXPECT_EQ(joined.timing->kernel->median_ns, 20);
  EXPECT_DOUBLE_EQ(*joined.derived->elements_per_s, 1000 / 20e-9);
  EXPECT_FALSE(joined.derived->plausible) << "it takes longer than its round trip";
  EXPECT_EQ(joined.reason,
            "the kernel seems to take longer than the round trip that contains it: something slowed it down meanwhile; "
            "measure it again");
  EXPECT_FALSE(last[1].result.reason);
}

TEST(LabVisits, OnlyVisitsWhoseIntervalsAreApartSurelyDiffer) {
  record::clock fast, slow;
  EXPECT_EQ(visits_effect(fast, slow), 0) << "without an interval nothing is sure";
  fast.ci95_lo_ns = 10, fast.ci95_hi_ns = 12, slow.ci95_lo_ns = 15, slow.ci95_hi_ns = 16;
  EXPECT_DOUBLE_EQ(visits_effect(fast, slow), 0.25);
  EXPECT_DOUBLE_EQ(visits_effect(slow, fast), 0.25);
  slow.ci95_lo_ns = 11;
  EXPECT_EQ(visits_effect(fast, slow), 0);
}

/// The status of a row that had these at its first and its last visit.
status joined_of(status first, status last) {
  const auto ended = [](status so) {
    std::vector<measured> rows = timed({{10}, {10}});
    if (so == status::interrupted)
      rows[0].interrupt();
    else if (so != status::ok)
      rows[0].end(so, "for a reason");
    return rows;
  };
  std::vector<measured> rows = ended(last);
  join(sum_of(1000), ended(first), rows);
  EXPECT_EQ(rows[0].time() != nullptr, rows[0].is_ok() || rows[0].result.state == status::interrupted);
  EXPECT_TRUE(rows[1].is_ok());
  return rows[0].result.state;
}

TEST(LabVisits, WhatWentWrongAtEitherVisitHasNoTime) {
  EXPECT_EQ(joined_of(status::ok, status::ok), status::ok);
  for (const status bad : {status::wrong, status::failed, status::timeout}) {
    EXPECT_EQ(joined_of(bad, status::skipped), bad) << "it is left out of the last visit";
    EXPECT_EQ(joined_of(status::ok, bad), bad);
  }
  EXPECT_EQ(joined_of(status::ok, status::skipped), status::ok) << "as memory or time ran short";
  EXPECT_EQ(joined_of(status::skipped, status::skipped), status::skipped);
  EXPECT_EQ(joined_of(status::ok, status::interrupted), status::interrupted);
}

TEST(LabVisits, WhatTakesAsLongAsAllSamplesIsNotVisitedAgain) {
  const stop_rule both = for_ten_seconds_a_row().rule;
  const auto skips = [&](std::vector<std::vector<double>> found, double first_call_ns = 12e9) {
    std::vector<measured> rows = timed(std::move(found));
    for (measured& m : rows) m.result.timing->first_call_ns = first_call_ns;
    const group again = to_visit_again(sum_of(1000), rows, both);
    return std::pair(!again.rows[0].skip.empty(), !again.rows[1].skip.empty());
  };
  EXPECT_EQ(skips({{11e9}, {9e9}}), std::pair(true, false));
  EXPECT_EQ(skips({{11e9, 11e9}, {1}}), std::pair(false, false));
  EXPECT_EQ(skips({{11e9}, {9e9}}, 1e9), std::pair(false, false)) << "others had the processor, as the check shows";
}

TEST(LabVisits, AnInterruptBetweenBothDeliversWhatWasFound) {
  const std::vector<group> plan{sum_of(1000), sum_of(2000)};
  measuring how;
  how.rule.max_ns = how.rule.min_ns = 1e6;
  std::size_t begun = 0;
  how.hooks.interrupted = [&] { return begun > 3; };  // as the last visit begins
  bench_events events;
  events.before_visit = [&](const group&, std::size_t, std::size_t steps) {
    ++begun;
    EXPECT_EQ(steps, 4u);
  };
  std::vector<std::vector<measured>> seen;
  events.on_group = [&](const group&, std::span<const measured> rows) { seen.emplace_back(rows.begin(), rows.end()); };
  run_bench(plan, how, events);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0][0].time()->visits->size(), 2u);
  EXPECT_FALSE(seen[1][0].time()->visits) << "one visit";
  EXPECT_EQ(seen[1][0].result.what.shape.front(), 2000u);
}

}  // namespace
}  // namespace tilewise::lab
