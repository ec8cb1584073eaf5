// SPDX-License-Identifier: Apache-2.0
// Kept tunings: writing and reading their text, what they apply to, and which texts are rejected.
#include "registry/tuned.hpp"

#include "backend/backend.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

namespace tilewise::registry {
namespace {

const variant& sort_by_radix() { return find_variant("sort/cpu:radix"); }

problem sorted(std::uint64_t n, dtype type = dtype::f32) {
  return {.what = &find_algorithm("sort"), .type = type, .shape = {n}};
}

tuned found_at(std::uint64_t n, std::string_view tuning) {
  return {.device = key_of_device(backend::find_device("cpu:serial", {})->info()),
          .by = &sort_by_radix(),
          .problem = sorted(n),
          .best = parse_tuning(tuning, sort_by_radix().tuning),
          .is_applied = true,
          .time_utc = "2026-11-23T20:10:00Z",
          .default_ns = 1.25e6,
          .gain = 1.125,
          .gain_lo = 1.0625,
          .gain_hi = 1.25};
}

TEST(Tuned, TextAndBack) {
  std::vector<tuned> all{found_at(1 << 20, "tile=4096"), found_at(1000, "")};
  choose_setting(all.front().problem, "order", "descending");
  all.back().is_applied = false;
  tuned of_six_sizes = all.front();
  of_six_sizes.by = &find_variant("matmul/cpu:blocked");
  of_six_sizes.problem = {.what = &find_algorithm("matmul"), .type = dtype::f32, .shape = {3, 5, 7, 9, 11, 13}};
  of_six_sizes.best = parse_tuning("", of_six_sizes.by->tuning);
  all.push_back(of_six_sizes);
  const kept_tunings read = tunings_from(to_text(all));
  EXPECT_EQ(read.fault, "");
  ASSERT_EQ(read.all.size(), 3u);
  EXPECT_EQ(to_text(read.all), to_text(all));
  EXPECT_EQ(read.all[0].best, all[0].best);
  EXPECT_TRUE(read.all[0].is_applied);
  EXPECT_FALSE(read.all[1].is_applied);
  EXPECT_EQ(read.all[2].problem.shape, of_six_sizes.problem.shape);
  EXPECT_TRUE(read.all[0].holds_for(sort_by_radix(), all[0].problem));
  EXPECT_TRUE(read.all[1].is_default());
  EXPECT_EQ(read.all[1].gain_hi, 1.25);
}

TEST(Tuned, SizeClassesGoFromHalfAPowerOfFourToTwiceIt) {
  for (unsigned k = 1; k < 31; ++k) {
    const std::uint64_t power = std::uint64_t{1} << 2 * k;
    EXPECT_EQ(size_class({power / 2})[0], k);
    EXPECT_EQ(size_class({power})[0], k);
    EXPECT_EQ(size_class({2 * power - 1})[0], k);
    EXPECT_EQ(size_class({2 * power})[0], k + 1);
  }
  EXPECT_EQ(size_class({0, 1, ~std::uint64_t{0}}), (extents{0, 0, 32}));
}

TEST(Tuned, HoldsForTheSameClassTypeAndSettingsOnly) {
  const tuned t = found_at(1 << 20, "tile=4096");
  EXPECT_TRUE(t.holds_for(sort_by_radix(), sorted((1 << 19) + 3)));
  EXPECT_FALSE(t.holds_for(sort_by_radix(), sorted((1 << 19) - 1)));
  EXPECT_FALSE(t.holds_for(sort_by_radix(), sorted(1 << 20, dtype::f64)));
  EXPECT_FALSE(t.holds_for(find_variant("sort/cpu:merge"), sorted(1 << 20)));
  problem descending = sorted(1 << 20);
  choose_setting(descending, "order", "descending");
  EXPECT_FALSE(t.holds_for(sort_by_radix(), descending));
}

TEST(Tuned, IsFoundOnTheSameHardwareDriverAndThreadsOnly) {
  const std::vector<tuned> all{found_at(1 << 20, "tile=4096")};
  const auto find_on = [&](const device_info& on) {
    return find_tuned(all, sort_by_radix(), sorted(1 << 20), on) != nullptr;
  };
  device_info here = backend::find_device("cpu:serial", {})->info();
  EXPECT_TRUE(find_on(here));
  EXPECT_FALSE(find_on(backend::find_device("cpu:threads", {.threads = 3, .instruction_set = {}})->info()));
  here.name = "cpu:serial again";
  EXPECT_TRUE(find_on(here)) << "a number or a name is not the hardware";
  for (std::string device_info::*fact : {&device_info::description, &device_info::driver, &device_info::api_version}) {
    device_info other = here;
    other.*fact += " 2.0";
    EXPECT_FALSE(find_on(other));
  }
}

TEST(Tuned, WhatNobodyAppliedIsTheDefault) {
  const auto on = backend::find_device("cpu:serial", {});
  const starting_tuning start = tuning_to_start_with(sort_by_radix(), sorted(1 << 20), *on);
  EXPECT_EQ(start.values, default_tuning(sort_by_radix().tuning));
  EXPECT_EQ(start.applied, nullptr);
}

/// The text of one tuning with `old` replaced.
kept_tunings read_with(const std::string& old, const std::string& other) {
  std::string text = to_text(std::vector{found_at(1 << 20, "tile=4096")});
  const std::size_t at = text.find(old);
  EXPECT_NE(at, text.npos) << old;
  return tunings_from(text.replace(at, old.size(), other));
}

TEST(Tuned, AnotherVersionsAreNamed) {
  const kept_tunings read = read_with(", of ", ", of 9.");
  EXPECT_TRUE(read.all.empty());
  EXPECT_NE(read.fault.find("another version"), std::string::npos) << read.fault;
}

TEST(Tuned, WhatHasNotItsFormIsNotBelieved) {
  const std::vector<std::pair<std::string, std::string>> faults{{"tilewise", "tilewize"},
                                                                {"\t1048576", "\t1048576x"},
                                                                {"\t1048576", "\t-1"},
                                                                {"\tf32", "\tf16"},
                                                                {"\tapplied", "\tmaybe"},
                                                                {"\t1048576", "\t1048576 "},
                                                                {"\t1.125", "\t1.125y"},
                                                                {"\t1.125", "\tnan"},
                                                                {"\t1.125", "\t-1"},
                                                                {"\t1.125", "\tinf"},
                                                                {"\t1.125", "\t"},
                                                                {"\t1.125", "\t1.125\t1.125"},
                                                                {"\t1.25\n", "\t1.25"},
                                                                {"\t1.25\n", "\n"},
                                                                {"\t1048576", "\t1x1x1x1x1x1x1"},
                                                                {"\t1048576", "\t99999999999999999999"}};
  for (const auto& [old, other] : faults) {
    const kept_tunings read = read_with(old, other);
    EXPECT_TRUE(read.all.empty()) << old << other;
    EXPECT_NE(read.fault, "") << old << other;
  }
  for (const std::string text : {"", "\n", "\t\t\t", "tilewise tunings 1, of "})
    EXPECT_NE(tunings_from(text).fault, "");
}

TEST(Tuned, WhatThisBuildLacksIsLeftOut) {
  const std::vector<std::pair<std::string, std::string>> foreign{{"sort/cpu:radix", "sort/vulkan:radix"},
                                                                 {"tile=4096", "tile=4097"},
                                                                 {"tile=4096", "tail=4096"},
                                                                 {"order=ascending", "order=sideways"}};
  for (const auto& [old, other] : foreign) {
    const kept_tunings read = read_with(old, other);
    EXPECT_TRUE(read.all.empty()) << old << other;
    EXPECT_EQ(read.fault, "") << old << other;
  }
}

}  // namespace
}  // namespace tilewise::registry
