// SPDX-License-Identifier: Apache-2.0
// What only scans of segments must satisfy; the bits of every variant are checked from the catalog.
#include "cuts.hpp"
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace tilewise {
namespace {

using tests::in_turn;
using tests::message_of;
using tests::wide_floats;
using offsets = std::vector<std::int64_t>;

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(__builtin_bit_cast(std::uint32_t, value));
  return bits;
}

std::vector<float> scanned_alone(std::span<const float> x, const segment_scan_options& options) {
  const scan_options as{.op = options.op, .init = options.init};
  return options.exclusive ? exclusive_scan(x, as) : inclusive_scan(x, as);
}

/// The bits of each segment scanned alone.
std::vector<std::uint32_t> expected_bits(const std::vector<float>& x, const offsets& at,
                                         const segment_scan_options& options) {
  std::vector<float> expected;
  for (std::size_t s = 0; s + 1 < at.size(); ++s) {
    const auto begin = static_cast<std::size_t>(at[s]), length = static_cast<std::size_t>(at[s + 1] - at[s]);
    const std::vector<float> segment = scanned_alone(std::span(x).subspan(begin, length), options);
    expected.insert(expected.end(), segment.begin(), segment.end());
  }
  return bits_of(expected);
}

/// On the device of `options`, into other memory and in place.
void expect_bits(const std::vector<std::uint32_t>& wanted, const std::vector<float>& x, const offsets& at,
                 const segment_scan_options& options) {
  const std::string where = options.device->name() + " " + std::string(options.tuning);
  const std::vector<std::uint32_t> y = bits_of(segment_scan(x, at, options));
  const auto differs = std::ranges::mismatch(y, wanted).in1;
  ASSERT_TRUE(y == wanted) << where << ": element " << differs - y.begin() << " of " << y.size() << " in "
                           << at.size() - 1 << " segments, exclusive " << options.exclusive;
  std::vector<float> in_place = x;
  segment_scan(in_place, at, in_place, options);
  ASSERT_TRUE(bits_of(in_place) == wanted) << where << ": in place";
}

/// Each segment on each device against the scan of the same elements alone.
void expect_the_law(const std::vector<float>& x, const offsets& at, const segment_scan_options& options) {
  const std::vector<std::uint32_t> wanted = expected_bits(x, at, options);
  for (const device& on : tests::devices_with("segment_scan")) {
    segment_scan_options there = options;
    there.device = on;
    ASSERT_NO_FATAL_FAILURE(expect_bits(wanted, x, at, there));
  }
}

const std::vector<segment_scan_options> kinds{
    {}, {.op = op::max, .exclusive = true, .init = 0.25f}, {.exclusive = true}, {.init = 0.25f}};

void expect_the_law(const std::vector<float>& x, const offsets& at) {
  for (const segment_scan_options& options : kinds) expect_the_law(x, at, options);
}

/// On a group whose ranks' parts end at `ends`, into other memory and in place.
void expect_the_law_on_ranks(const std::vector<float>& x, const offsets& at, const offsets& ends, const device& group) {
  std::vector<std::span<const float>> parts;
  for (std::size_t k = 0, begin = 0; k < ends.size(); begin = static_cast<std::size_t>(ends[k++]))
    parts.push_back(std::span(x).subspan(begin, static_cast<std::size_t>(ends[k]) - begin));
  const array<float> in = upload_parts<float>(group, parts);
  const array<std::int64_t> at_there = group.upload(at);
  for (const segment_scan_options& options : kinds) {
    const std::vector<std::uint32_t> wanted = expected_bits(x, at, options);
    const array<float> y = segment_scan(in, at_there, options);
    array<float> in_place = upload_parts<float>(group, parts);
    segment_scan(in_place, at_there, in_place, options);
    const auto what = [&] {
      return group.name() + ": parts end at " + testing::PrintToString(ends) + ", segments begin and end at " +
             testing::PrintToString(at);
    };
    ASSERT_TRUE(bits_of(y.download()) == wanted) << what();
    ASSERT_TRUE(bits_of(in_place.download()) == wanted) << "in place, " << what();
    ASSERT_EQ(borders_of(y), borders_of(in));
  }
}

TEST(SegmentScan, EachSegmentIsScannedAlone) {
  const std::vector<float> x = wide_floats(300'007, 1);
  for (const auto& lengths : tests::mixtures_of_lengths) expect_the_law(x, in_turn(300'007, lengths));
}

TEST(SegmentScan, EveryWayToCutAFewElements) {
  for (std::int64_t n = 0; n <= 4; ++n)
    for (const offsets& at : tests::all_cuts(n)) expect_the_law(wide_floats(static_cast<std::uint64_t>(n), 2), at);
}

TEST(SegmentScan, ManyEmptySegmentsAndVeryLongOnes) {
  const std::vector<float> x = wide_floats((1 << 21) + 12'345, 3);
  const auto n = static_cast<std::int64_t>(x.size());
  expect_the_law(x, {0, 3, 3, n - 5, n});
  expect_the_law(x, {0, 1 << 19, (1 << 19) + 1, n - (1 << 20), n});
  offsets at(20'000, 0);
  at.insert(at.end(), 20'000, 12'345);
  at.insert(at.end(), 20'000, n);
  expect_the_law(x, at);
}

TEST(SegmentScan, ResultsPastTheCachesHaveTheSameBitsAtEveryAlignment) {
  const std::uint64_t cache = open("cpu").info().cache;
  if (cache == 0 || cache > (std::uint64_t{64} << 20)) GTEST_SKIP() << "no small last-level cache";
  const std::vector<float> x = wide_floats(cache / sizeof(float) / 2 + 32'773, 6);
  const offsets at = in_turn(static_cast<std::int64_t>(x.size()), {3, 40, 700, 0, 6000, 50'000, 17'000, 1'000'000});
  std::vector<float> in_place = x, y(x.size() + 3, 42.0f);
  segment_scan(in_place, at, in_place);  // not past the caches
  for (const std::size_t offset : {3u, 0u}) {
    const std::span<float> to(y.data() + offset, x.size());
    segment_scan(x, at, to);
    EXPECT_TRUE(bits_of({to.begin(), to.end()}) == bits_of(in_place)) << offset;
    if (offset != 0) {
      EXPECT_EQ(y[offset - 1], 42.0f);
    }
  }
}

TEST(SegmentScan, SegmentsThatSeveralRanksShare) {
  std::mt19937_64 random(5);
  const int rounds = tests::test_cover() == tests::cover::few ? 3 : 30;
  for (const std::size_t ranks : {2, 3, 5, 8}) {
    const device group = open(std::to_string(ranks) + "*cpu:serial");
    for (const std::int64_t n : {0, 1, 7, 300, 5000}) {
      const std::vector<float> x = wide_floats(static_cast<std::uint64_t>(n), 4);
      offsets equal;
      for (std::size_t k = 1; k <= ranks; ++k)
        equal.push_back(n * static_cast<std::int64_t>(k) / static_cast<std::int64_t>(ranks));
      expect_the_law_on_ranks(x, {0, n}, equal, group);
      expect_the_law_on_ranks(x, {0, n / 9, n - n / 9, n}, equal, group);
      for (int round = 0; round < rounds; ++round) {
        const offsets ends = tests::any_ends(ranks, n, random);
        expect_the_law_on_ranks(x, tests::any_cuts(ends, random), ends, group);
      }
    }
  }
}

// With the smallest tile of OpenCL, 512 elements, the last segment has values on three levels, and a rest on each.
TEST(SegmentScan, ChunksOfChunks) {
  constexpr std::int64_t tile = 512, length = 3 * tile * tile + 5 * tile + 77;
  const offsets at{0, 100, 100 + tile, 100 + 2 * tile * tile, 100 + 2 * tile * tile + length};
  const std::vector<float> x = wide_floats(static_cast<std::uint64_t>(at.back()), 4);
  for (const bool exclusive : {false, true}) {
    const std::vector<std::uint32_t> wanted = expected_bits(x, at, {.exclusive = exclusive});
    for (const device& on : tests::devices_with("segment_scan"))
      if (on.info().backend == "opencl")
        expect_bits(wanted, x, at, {.exclusive = exclusive, .device = on, .tuning = "group_size=64 items=8"});
  }
}

// Chunks of 8 bytes are half as long: the last segment has values on three levels of CUDA's.
TEST(SegmentScan, LongSegmentsOfDoubles) {
  const std::vector<float> narrow = wide_floats((1 << 19) + 80, 7);
  const std::vector<double> x(narrow.begin(), narrow.end());
  const offsets at{0, 3, static_cast<std::int64_t>(x.size())};
  std::vector<double> wanted = inclusive_scan(std::span(x).first(3));
  const std::vector<double> rest = inclusive_scan(std::span(x).subspan(3));
  wanted.insert(wanted.end(), rest.begin(), rest.end());
  for (const device& on : tests::devices_with("segment_scan")) {
    const std::vector<double> y = segment_scan(x, at, {.device = on});
    EXPECT_EQ(std::memcmp(y.data(), wanted.data(), y.size() * sizeof(double)), 0) << on.name();
  }
}

TEST(SegmentScan, WhatIsWrongIsNamedAndNothingIsWritten) {
  const std::vector<float> x(10, 1.0f);
  struct wrong {
    offsets at;
    std::string says;
    segment_scan_options options = {};
  };
  std::vector<wrong> all{
      {{0, 10},
       "an exclusive min scan has no value to start from; give an initial value",
       {.op = op::min, .exclusive = true}},
  };
  for (const auto& [at, says] : tests::false_offsets_of_ten) all.push_back({at, says});
  for (const device& on : tests::devices_with("segment_scan"))
    for (const wrong& w : all) {
      std::vector<float> y(10, 5.0f);
      segment_scan_options options = w.options;
      options.device = on;
      EXPECT_EQ(message_of(errc::invalid_argument, [&] { segment_scan(x, w.at, y, options); }), w.says) << on.name();
      EXPECT_EQ(y, std::vector<float>(10, 5.0f)) << on.name();
    }
  std::vector<float> few(3);
  EXPECT_EQ(message_of(errc::invalid_argument,
                       [&] {
                         segment_scan(x, offsets{0, 10}, few);
                       }),
            "the output of a scan must have the size of its input: 10 elements, not 3");
}

}  // namespace
}  // namespace tilewise
