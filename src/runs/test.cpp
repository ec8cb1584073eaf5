// SPDX-License-Identifier: Apache-2.0
// What only runs and reductions by key must satisfy; the bits of every variant are checked from the catalog.
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tilewise {
namespace {

using tests::message_of;
using tests::wide_floats;
using offsets = std::vector<std::int64_t>;

/// Keys in runs of these lengths in turn, up to n; every third run has the key of the one before the last.
std::vector<std::int32_t> keys_in_turn(std::size_t n, const std::vector<std::size_t>& lengths) {
  std::vector<std::int32_t> keys;
  for (std::size_t run = 0; keys.size() < n; ++run)
    keys.insert(keys.end(), std::min(lengths[run % lengths.size()], n - keys.size()),
                static_cast<std::int32_t>(run % 3 == 2 ? run - 2 : run));
  return keys;
}

TEST(ReduceByKey, EachValueIsTheReductionOfTheElementsOfARunAlone) {
  const std::vector<float> x = wide_floats(100'003, 1);
  for (const std::vector<std::size_t>& lengths :
       {std::vector<std::size_t>{1}, {8}, {17}, {1, 100, 3}, {4096}, {8191, 1}, {8193}, {100'003}}) {
    const std::vector<std::int32_t> keys = keys_in_turn(x.size(), lengths);
    for (const device& on : tests::devices_with("runs")) {
      reduce_options there;
      there.device = on;
      const auto found = reduce_by_key(keys, x, there);
      std::size_t run = 0;
      for (std::size_t begin = 0, end = 0; begin < x.size(); begin = end, ++run) {
        while (end < x.size() && keys[end] == keys[begin]) ++end;
        ASSERT_LT(run, found.keys.size()) << on.name();
        ASSERT_EQ(found.keys[run], keys[begin]) << on.name() << " " << run;
        ASSERT_EQ(found.offsets[run], static_cast<std::int64_t>(begin)) << on.name() << " " << run;
        ASSERT_EQ(found.values[run], reduce(std::span(x).subspan(begin, end - begin))) << on.name() << " " << run;
      }
      ASSERT_EQ(found.values.size(), run) << on.name();
      ASSERT_EQ(found.offsets.back(), static_cast<std::int64_t>(x.size())) << on.name();
    }
  }
}

TEST(Runs, KeysAreEqualIfTheirBitsAre) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto found = runs(std::vector<double>{nan, nan, -nan, -0.0, 0.0, 0.0});
  EXPECT_EQ(found.offsets, (offsets{0, 2, 3, 4, 6}));
  EXPECT_TRUE(std::signbit(found.keys[2]));
  EXPECT_FALSE(std::signbit(found.keys[3]));
}

TEST(Runs, OfNothingAndOfArraysOnADevice) {
  const std::vector<std::uint64_t> none, keys{5, 5, std::uint64_t{1} << 32 | 5};
  EXPECT_EQ(runs(none).offsets, offsets{0});
  EXPECT_EQ(reduce_by_key(none, none).values, none);
  for (const device& on : tests::devices_with("runs")) {
    const auto found = runs(on.upload(keys));
    EXPECT_EQ(found.keys.download(), (std::vector<std::uint64_t>{keys[0], keys[2]})) << on.name();
    EXPECT_EQ(found.offsets.download(), (offsets{0, 2, 3})) << on.name();
    const auto reduced = reduce_by_key(on.upload(keys), on.upload(std::vector<float>{1, 2, 4}), {.op = op::max});
    EXPECT_EQ(reduced.values.download(), (std::vector<float>{2, 4})) << on.name();
  }
}

TEST(Runs, OfMoreThanThereIsRoomForTheFirstAreFound) {
  std::vector<std::int32_t> keys(40'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int32_t>(i / 2);
  for (const device& on : tests::devices_with("runs"))
    for (const std::uint64_t room : {0, 1, 9'999, 19'999, 20'000, 20'001, 40'000}) {
      std::vector<std::int32_t> of_runs(room, 9);
      offsets at(room + 1, 9), count(1, 9);
      detail::runs(detail::argument_for("the keys", keys), detail::argument_for("the count", count),
                   detail::argument_for("the keys of runs", of_runs), detail::argument_for("the offsets", at),
                   {.device = on});
      ASSERT_EQ(count[0], 20'000) << on.name() << " " << room;
      for (std::size_t run = 0; run <= room; ++run) {
        ASSERT_EQ(at[run], std::min<std::int64_t>(2 * static_cast<std::int64_t>(run), 40'000))
            << on.name() << " " << room;
        if (run < room) ASSERT_EQ(of_runs[run], run < 20'000 ? static_cast<std::int32_t>(run) : 0) << on.name();
      }
    }
}

TEST(ReduceByKey, WhatIsWrongIsNamed) {
  const std::vector<std::int32_t> keys{1, 1, 2};
  EXPECT_EQ(message_of(errc::invalid_argument, [&] { reduce_by_key(keys, std::vector<float>(2)); }),
            "there are 3 keys and 2 elements; each element has one key");
}

TEST(Array, HasFirstElements) {
  for (const char* name : {"cpu", "3*cpu:serial"}) {
    const device on = open(name);
    const array<float> first = on.upload(std::vector<float>{5, 2, 3, 4, 1, 0}).first(3);
    EXPECT_EQ(first.download(), (std::vector<float>{5, 2, 3})) << name;
    EXPECT_EQ(sorted(first).download(), (std::vector<float>{2, 3, 5})) << name;
    EXPECT_EQ(allocate_like(first).size(), 3u) << name;
  }
  const array<float> parts = open("3*cpu:serial").upload(std::vector<float>{5, 2, 3, 4, 1, 0}).first(3);
  EXPECT_EQ(borders_of(parts), (std::vector<std::uint64_t>{0, 2, 3, 3}));
  EXPECT_EQ(download_parts(parts), (std::vector<std::vector<float>>{{5, 2}, {3}, {}}));
  EXPECT_EQ(message_of(errc::invalid_argument, [] { open("cpu").upload(std::vector<float>{1}).first(2); }),
            "an array of 1 elements has no first 2");
}

TEST(ReduceByKey, OfArraysOnOtherDevicesIsRefused) {
  EXPECT_EQ(message_of(errc::invalid_argument,
                       [] {
                         reduce_by_key(open("cpu:serial").upload(std::vector<float>{1}),
                                       open("2*cpu:serial").upload(std::vector<float>{1}));
                       }),
            "the keys are on cpu:serial, but the input is on 2*cpu:serial; upload both to one device");
}

}  // namespace
}  // namespace tilewise
