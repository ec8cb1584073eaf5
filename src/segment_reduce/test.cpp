// SPDX-License-Identifier: Apache-2.0
// What only reductions of segments must satisfy; the bits of every variant are checked from the catalog.
#include "cuts.hpp"
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace tilewise {
namespace {

using tests::in_turn;
using tests::message_of;
using tests::wide_floats;
using offsets = std::vector<std::int64_t>;

std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }

/// Each segment on each device against `reduce` of the same elements alone.
void expect_the_law(const std::vector<float>& x, const offsets& at, const reduce_options& options = {}) {
  std::vector<float> expected;
  for (std::size_t s = 0; s + 1 < at.size(); ++s)
    expected.push_back(reduce(
        std::span(x).subspan(static_cast<std::size_t>(at[s]), static_cast<std::size_t>(at[s + 1] - at[s])), options));
  for (const device& on : tests::devices_with("segment_reduce")) {
    reduce_options there = options;
    there.device = on;
    const std::vector<float> values = segment_reduce(x, at, there);
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t s = 0; s < values.size(); ++s)
      ASSERT_EQ(bits_of(values[s]), bits_of(expected[s]))
          << on.name() << ": segment " << s << " of " << at.size() - 1 << ", " << at[s] << " to " << at[s + 1];
  }
}

TEST(SegmentReduce, EachValueIsTheReductionOfItsSegmentAlone) {
  const std::vector<float> x = wide_floats(300'007, 1);
  const std::int64_t n = 300'007;
  for (const auto& lengths : tests::mixtures_of_lengths) {
    expect_the_law(x, in_turn(n, lengths));
    expect_the_law(x, in_turn(n, lengths), {.op = op::max, .init = 0.25f});
  }
}

TEST(SegmentReduce, EveryWayToCutAFewElements) {
  for (std::int64_t n = 0; n <= 5; ++n) {
    const std::vector<float> x = wide_floats(static_cast<std::uint64_t>(n), 2);
    for (const offsets& at : tests::all_cuts(n)) expect_the_law(x, at);
  }
}

/// Whole tiles of empty segments: before, between and behind the elements.
TEST(SegmentReduce, ManyEmptySegments) {
  const std::vector<float> x = wide_floats(100'003, 5);
  const auto n = static_cast<std::int64_t>(x.size());
  offsets at(20'000, 0);
  at.insert(at.end(), 20'000, 12'345);
  at.insert(at.end(), 20'000, n);
  expect_the_law(x, at);
}

TEST(SegmentReduce, AVeryLongSegmentBesideShortOnes) {
  const std::vector<float> x = wide_floats((1 << 23) + 12'345, 3);
  const auto n = static_cast<std::int64_t>(x.size());
  expect_the_law(x, {0, 3, 3, n - 5, n});
  expect_the_law(x, {0, 1 << 20, (1 << 20) + 1, n - (1 << 21), n});
}

TEST(SegmentReduce, EmptySegmentsHaveTheValueOfAnEmptyReduction) {
  const std::vector<float> none, two{1, 2};
  EXPECT_EQ(segment_reduce(none, offsets{0}), none);
  EXPECT_EQ(segment_reduce(none, offsets{0, 0, 0}), std::vector<float>(2, 0.0f));
  EXPECT_EQ(segment_reduce(two, offsets{0, 0, 2, 2}, {.op = op::product}), (std::vector<float>{1, 2, 1}));
  EXPECT_EQ(segment_reduce(two, offsets{0, 0, 2}, {.op = op::min, .init = 7.0f}), (std::vector<float>{7, 1}));
}

TEST(SegmentReduce, OffsetsOfOtherIntegersAndArraysOnADevice) {
  const std::vector<float> x = wide_floats(100, 4);
  const std::vector<std::size_t> unsigned_ones{0, 40, 100};
  const offsets at{0, 40, 100};
  const std::vector<long long> longer{0, 40, 100};
  EXPECT_EQ(segment_reduce(x, unsigned_ones), segment_reduce(x, at));
  EXPECT_EQ(segment_reduce(x, longer), segment_reduce(x, at));
  const device on = open("cpu:serial");
  EXPECT_EQ(segment_reduce(on.upload(x), on.upload(at)).download(), segment_reduce(x, at));
}

TEST(SegmentReduce, WhatIsWrongIsNamedAndNothingIsWritten) {
  const std::vector<float> x(10, 1.0f);
  struct wrong {
    offsets at;
    std::string says;
    reduce_options options = {};
  };
  std::vector<wrong> all{
      {{0, 4, 4, 10},
       "segment 1 is empty, and the min of no elements has no value; give an initial value",
       {.op = op::min}},
  };
  for (const auto& [at, says] : tests::false_offsets_of_ten) all.push_back({at, says});
  for (const device& on : tests::devices_with("segment_reduce"))
    for (const wrong& w : all) {
      std::vector<float> values(w.at.empty() ? 0 : w.at.size() - 1, 5.0f);
      const std::vector<float> before = values;
      reduce_options options = w.options;
      options.device = on;
      EXPECT_EQ(message_of(errc::invalid_argument, [&] { segment_reduce(x, w.at, values, options); }), w.says)
          << on.name();
      EXPECT_EQ(values, before) << on.name();
    }
  std::vector<float> one(1), shared(10, 1.0f);
  EXPECT_NE(message_of(errc::invalid_argument,
                       [&] {
                         segment_reduce(x, offsets{0, 5, 10}, one);
                       })
                .find("there are 2 segments and room for 1 values"),
            std::string::npos);
  EXPECT_NE(message_of(errc::invalid_argument,
                       [&] {
                         segment_reduce(shared, offsets{0, 10}, std::span(shared).first(1));
                       })
                .find("shares memory"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewise
