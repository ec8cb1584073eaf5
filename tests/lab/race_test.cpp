// SPDX-License-Identifier: Apache-2.0
// Races of tunings: which ones stay, what counts as a gain with made-up times, and that other bits never win.
#include "lab/tune/race.hpp"
#include "lab/time/rounds.hpp"
#include "planted_variant.hpp"
#include "registry/catalog.hpp"
#include "tool/tune/variants.hpp"

#include <gtest/gtest.h>

#include <random>
#include <regex>

#include <unistd.h>

namespace tilewise::lab {
namespace {

using rounds = std::vector<double>;

TEST(LabRace, WhoIsSurelySlowerLeavesAndOfTheOthersHalf) {
  const rounds slow(6, 3.0), quick(6, 1.0), quicker(6, 0.9), tied{1.1, 0.8, 1.1, 0.8, 1.1, 0.8};
  using left = std::vector<std::size_t>;
  EXPECT_EQ(going_on(std::vector<rounds>{quick}), left{0});
  EXPECT_EQ(going_on(std::vector<rounds>{quick, slow}), left{0}) << "the default is surely faster";
  EXPECT_EQ(going_on(std::vector<rounds>{slow, quick}), (left{0, 1})) << "the default always goes on";
  EXPECT_EQ(going_on(std::vector<rounds>{quick, slow, slow, quicker, slow, slow}), (left{0, 3}));
  EXPECT_EQ(going_on(std::vector<rounds>{slow, tied, quicker, tied, tied, tied}), (left{0, 2, 1, 3}))
      << "three of five";
  EXPECT_EQ(going_on(std::vector<rounds>{slow, rounds{}, quick, rounds{}}), (left{0, 2}))
      << "without a time there is no place";
  const rounds twice(2, 3.0);
  EXPECT_EQ(going_on(std::vector<rounds>{slow, quick, twice}).size(), 2u);
}

TEST(LabRace, AGainIsAboveTheNoise) {
  const auto gain = [](double lo, double hi) { return summary{.median = (lo + hi) / 2, .ci95 = interval{lo, hi}}; };
  EXPECT_TRUE(is_gain(gain(1.02, 1.1), {1.0, 0.001}));
  EXPECT_FALSE(is_gain(gain(0.99, 1.3), {1.0, 0.001})) << "it may be none";
  EXPECT_FALSE(is_gain(gain(1.005, 1.02), {1.0, 0.001})) << "less than a hundredth";
  EXPECT_FALSE(is_gain(gain(1.02, 1.1), {1.0, 0.03})) << "the default differs as much from itself";
  EXPECT_FALSE(is_gain(summary{.median = 2}, {1.0, 0.001})) << "no interval";
  EXPECT_TRUE(is_gain(gain(1.02, 1.1), {}));
}

/// A race with made-up times: the `speed` of each tuning relative to the default, and the machine's noise.
class made_up_race {
 public:
  explicit made_up_race(unsigned seed, double noise) : random_(seed), spread_(0, noise) {}

  bool is_gain_called(std::vector<double> speeds) {
    speeds.insert(speeds.begin(), 1.0);
    for (std::size_t count = 6; speeds.size() > 2 && count < 1000; count *= 2) {
      std::vector<rounds> times;
      for (const double speed : speeds) times.push_back(take(speed, count));
      std::vector<double> left;
      for (const std::size_t i : going_on(times)) left.push_back(speeds[i]);
      speeds = left;
    }
    if (speeds.size() < 2) return false;
    const series first{.ns = take(1, 30)}, again{.ns = take(1, 30)};
    const auto noise = noise_between(first, again);
    return is_gain(*ratio_of(first.ns, take(speeds[1], 30)), {noise->aa_median_ratio, noise->min_effect});
  }

 private:
  rounds take(double speed, std::size_t count) {
    rounds times(count);
    for (double& t : times) t = std::exp(spread_(random_)) / speed;
    return times;
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> spread_;
};

TEST(LabRace, ANoisyTieIsNoGain) {
  int called = 0;
  for (unsigned seed = 0; seed < 400; ++seed)
    called += made_up_race(seed, 0.05).is_gain_called(std::vector<double>(20, 1.0));
  EXPECT_LE(called, 400 * 5 / 100);
}

TEST(LabRace, ATenthIsFoundAmongTies) {
  std::vector<double> speeds(20, 1.0);
  speeds[13] = 1.1;
  int called = 0;
  for (unsigned seed = 0; seed < 100; ++seed) called += made_up_race(seed, 0.01).is_gain_called(speeds);
  EXPECT_GE(called, 95);
}

/// Enough for all checks and rounds on a busy machine. A race ends after the rounds that were requested.
constexpr double ample_ns = 1e12;

enum planted_pace : unsigned { slow, quick, altering, failing };
constexpr std::array<unsigned, 4> paces{slow, quick, altering, failing};
constexpr std::array<std::string_view, 4> pace_words{"slow", "quick", "altering", "failing"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"pace", paces, slow, pace_words}}};

/// Right but for one tuning, which is the fastest, and one that throws. Milliseconds lie between slow and quick.
void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
         backend::queue& queue) {
  const auto [pace] = t.of(axes);
  if (pace == failing) throw error(errc::device_lost, "planted");
  if (pace != altering) registry::reference_of(*p.what).run(p, where, {}, queue);
  if (pace == altering) std::fill_n(where.out[0].as<std::byte>(), p.n() * size_of(p.type), std::byte{1});
  if (pace == slow) usleep(3000);
}

registry::variant planted(registry::claim order) {
  registry::variant v = tests::planted_variant("scan", "paced", run);
  v.tuning = axes;
  v.order = order;
  v.bound = 1e30;  // with its own order; only its tunings must agree
  return v;
}

measuring few_rounds() {
  measuring how;
  how.rule = {.precision = 0.5, .min_ns = 0, .max_samples = 12};
  return how;
}

race_result raced(const registry::variant& v) {
  const registry::problem p{.what = &registry::find_algorithm("scan"), .shape = {500}};
  const tuning_case what{p, &v, backend::find_device("cpu:serial", {}), registry::tuning_space(v.tuning)};
  return race(what, make_case(p, data_class::uniform, 1), few_rounds(), ample_ns);
}

const lab::raced& entry_of(const race_result& all, unsigned pace) {
  return *std::find_if(all.all.begin(), all.all.end(), [&](const lab::raced& r) { return r.tuning.value[0] == pace; });
}

/// The default or the fast tuning, if the processors are busy.
unsigned winner_of(const race_result& all) { return all.all[all.best].tuning.value[0]; }

TEST(LabRace, OtherBitsNeverWin) {
  const registry::variant v = planted(registry::claim::tilewise);
  const race_result all = raced(v);
  ASSERT_EQ(all.all.size(), 4u);
  EXPECT_EQ(all.all.front().tuning.value[0], slow) << "the default comes first";
  EXPECT_NE(winner_of(all), altering);
  EXPECT_NE(winner_of(all), failing);
  EXPECT_EQ(entry_of(all, altering).last.result.state, record::status::wrong);
  EXPECT_EQ(entry_of(all, altering).last.time(), nullptr);
  EXPECT_EQ(entry_of(all, failing).last.result.state, record::status::failed);
}

TEST(LabRace, NorDoTheyInAnOrderOfItsOwn) {
  const registry::variant v = planted(registry::claim::own);
  const race_result all = raced(v);
  EXPECT_NE(winner_of(all), altering);
  EXPECT_EQ(entry_of(all, altering).last.result.state, record::status::skipped);
  EXPECT_NE(entry_of(all, altering).last.result.reason->find("other bits"), std::string::npos);
}

/// A variant whose default has one of these paces, against the fast one.
template <planted_pace Default>
tuning_case against_quick(registry::variant& v) {
  constexpr static std::array<registry::tuning_axis, 1> other_first{{{"pace", paces, Default, pace_words}}};
  v.tuning = other_first;
  return {{.what = &registry::find_algorithm("scan"), .shape = {500}},
          &v,
          backend::find_device("cpu:serial", {}),
          {registry::tuning{{Default}}, registry::tuning{{quick}}}};
}

race_result raced(const tuning_case& what, const measuring& how = few_rounds()) {
  return race(what, make_case(what.problem, data_class::uniform, 1), how, ample_ns);
}

/// The difference is too large for any load to hide.
TEST(LabRace, WhatIsAThousandTimesFasterWins) {
  registry::variant v = planted(registry::claim::tilewise);
  const race_result all = raced(against_quick<slow>(v));
  EXPECT_EQ(winner_of(all), quick);
  EXPECT_EQ(all.candidate, 1u);
}

TEST(LabRace, WithoutARightDefaultNothingWins) {
  registry::variant v = planted(registry::claim::tilewise);
  const race_result all = raced(against_quick<altering>(v));
  EXPECT_EQ(all.best, 0u);
  EXPECT_EQ(all.candidate, 0u);
  EXPECT_EQ(all.all.front().last.result.state, record::status::wrong);
  EXPECT_EQ(all.all.back().last.result.state, record::status::ok) << "other bits than wrong ones are no fault";
}

TEST(LabRace, ADefaultThatFailsIsToldBesideTheOthers) {
  registry::variant v = planted(registry::claim::tilewise);
  const tuning_case what = against_quick<failing>(v);
  const race_result all = raced(what);
  ASSERT_NE(all.all.back().last.time(), nullptr);
  const std::string told = cli::tuning_block({&what, std::nullopt, all}, true);
  const auto line = [&](const std::string& begin) {
    const std::size_t at = told.find(begin);
    return at == told.npos ? "" : told.substr(at, told.find('\n', at) - at);
  };
  EXPECT_TRUE(line("  the default").ends_with(" failed")) << told;
  EXPECT_NE(line("  pace=quick").find('%'), told.npos) << told;
  EXPECT_EQ(line("  pace=quick").find("%  "), told.npos) << "of what has no time there is no gain\n" << told;
  EXPECT_NE(told.find("nothing is known of them"), told.npos) << told;
}

/// A tuning's line may have an interval above 1 that is no gain, so the verdict says what counts as one.
TEST(LabRace, AVerdictForTheDefaultSaysWhatAGainMustExceed) {
  registry::variant v = planted(registry::claim::tilewise);
  const tuning_case what = against_quick<slow>(v);
  const registry::tuned stays{.device = "", .by = &v, .problem = what.problem, .best = what.tunings[0], .time_utc = ""};
  const auto told = [&](double min_effect, std::size_t candidate, const summary& gain) {
    race_result all{.all = {{what.tunings[0]}, {what.tunings[1]}}, .candidate = candidate};
    all.all[0].last.result.noise = record::noise{1.0, min_effect};
    all.all[1].gain = gain;
    return std::regex_replace(cli::tuning_block({&what, stays, all}, true), std::regex("\\s+"), " ");
  };
  const summary small{.median = 1.05, .ci95 = interval{1.02, 1.08}};
  EXPECT_FALSE(is_gain(small, {1.0, 0.03}));
  EXPECT_NE(told(0.03, 1, small).find("by more than 3.0 %, the least that counts here"), std::string::npos)
      << told(0.03, 1, small);
  EXPECT_NE(told(0.001, 1, small).find("by more than 1.0 %"), std::string::npos) << "the least that is called one";
  EXPECT_NE(told(0.03, 0, small).find("no other tuning came to the final"), std::string::npos);
  EXPECT_NE(told(0.03, 1, {.median = 1.05}).find("too short to tell"), std::string::npos);
  for (const std::size_t candidate : {0U, 1U})
    EXPECT_EQ(told(0.03, candidate, small).find("surely"), std::string::npos) << "its interval is above 1";
}

/// A sleep is never too short, so long sleeps give few samples on any machine.
TEST(LabRace, AStageAndTheFinalHaveNoMoreThanTheirShares) {
  constexpr static std::array<unsigned, 4> values{0, 1, 2, 3};
  constexpr static std::array<registry::tuning_axis, 1> alike{{{"value", values, 0}}};
  constexpr double call_ns = 20e6, budget_ns = 60 * call_ns;
  registry::variant v = planted(registry::claim::tilewise);
  v.tuning = alike;
  v.run = [](const registry::problem& p, const registry::bindings& where, const registry::tuning&,
             backend::queue& queue) {
    registry::reference_of(*p.what).run(p, where, {}, queue);
    usleep(static_cast<useconds_t>(call_ns / 1000));
  };
  measuring how;
  how.rule = {.precision = 0, .min_ns = 0};
  const registry::problem p{.what = &registry::find_algorithm("scan"), .shape = {500}};
  const tuning_case what{p, &v, backend::find_device("cpu:serial", {}), registry::tuning_space(alike)};
  const race_result all = race(what, make_case(p, data_class::uniform, 1), how, budget_ns);
  for (const lab::raced& r : all.all) {
    if (r.last.time() == nullptr) continue;
    // Of two stages the first has a quarter, for three, the default and the default again; the final half for three.
    EXPECT_LE(r.last.time()->n, r.stage == 1 ? 60 / 4 / 5 : 60 / 2 / 3) << r.stage;
  }
}

TEST(LabRace, WhatNeverBeganWasInterrupted) {
  registry::variant v = planted(registry::claim::tilewise);
  measuring how;
  how.hooks.interrupted = [] { return true; };
  const race_result all = raced(against_quick<slow>(v), how);
  ASSERT_EQ(all.all.size(), 2u);
  for (const lab::raced& r : all.all) {
    EXPECT_EQ(r.stage, 0u);
    EXPECT_EQ(r.last.result.state, record::status::interrupted);
  }
}

}  // namespace
}  // namespace tilewise::lab
