// SPDX-License-Identifier: Apache-2.0
// What only sorts of segments must satisfy; the bits of every variant are checked from the catalog.
#include "cuts.hpp"
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace tilewise {
namespace {

using tests::in_turn;
using tests::message_of;
using offsets = std::vector<std::int64_t>;

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Few different keys, so that many are equal; zeros of both signs, NaNs of both signs and infinities among them.
template <class T>
std::vector<T> keys_with_equals(std::uint64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> keys(n);
  for (T& key : keys) {
    const auto any = random();
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T nan = std::numeric_limits<T>::quiet_NaN(), far = std::numeric_limits<T>::infinity();
      const std::array<T, 6> special{T(0), -T(0), nan, -nan, far, -far};
      key = any % 8 < special.size() ? special[any % 8] : static_cast<T>(static_cast<int>(any >> 60) - 8);
    } else {
      key = static_cast<T>(any % 8 == 0 ? any : any >> 60);
    }
  }
  return keys;
}

/// What every kind of sort gives for each segment by itself.
template <class T, class V>
struct sorted_segments {
  std::vector<T> keys;
  std::vector<V> values;
  std::vector<std::uint32_t> indices;

  sorted_segments(const std::vector<T>& x, const std::vector<V>& carried, const offsets& at, const sort_options& as)
      : keys(x), values(carried), indices(x.size()) {
    for (std::size_t s = 0; s + 1 < at.size(); ++s) {
      const auto begin = static_cast<std::size_t>(at[s]), length = static_cast<std::size_t>(at[s + 1] - at[s]);
      argsort(std::span(x).subspan(begin, length), std::span(indices).subspan(begin, length), as);
      sort_by_key(std::span(keys).subspan(begin, length), std::span(values).subspan(begin, length), as);
    }
  }
};

/// On one device: keys alone, keys with values, and indices; into other memory and in place.
template <class T, class V>
void expect_sorted(const sorted_segments<T, V>& wanted, const std::vector<T>& x, const std::vector<V>& carried,
                   const offsets& at, const sort_options& options) {
  const auto what = [&] {
    std::string text = options.device->name() + ", " + std::to_string(at.size() - 1) + " segments of " +
                       std::to_string(x.size()) + " elements";
    if (at.size() < 20) text += " at " + testing::PrintToString(at);
    return text;
  };
  ASSERT_TRUE(same_bits(segment_sort(x, at, options), wanted.keys)) << what();
  std::vector<T> keys = x;
  segment_sort(keys, at, keys, options);
  ASSERT_TRUE(same_bits(keys, wanted.keys)) << "in place, " << what();
  std::vector<V> values = carried;
  keys = x;
  segment_sort_by_key(keys, values, at, keys, values, options);
  ASSERT_TRUE(same_bits(keys, wanted.keys)) << "with values, " << what();
  ASSERT_TRUE(same_bits(values, wanted.values)) << "values, " << what();
  ASSERT_TRUE(same_bits(segment_argsort(x, at, options), wanted.indices)) << "indices, " << what();
}

/// Each segment on each device against the sort of the same elements alone.
template <class T, class V>
void expect_the_law(std::uint64_t n, const offsets& at, sort_order order) {
  const std::vector<T> x = keys_with_equals<T>(n, 1);
  std::vector<V> carried(n);
  std::iota(carried.begin(), carried.end(), V(0));
  const sorted_segments<T, V> wanted(x, carried, at, {.order = order});
  for (const device& on : tests::devices_with("segment_sort"))
    ASSERT_NO_FATAL_FAILURE(expect_sorted(wanted, x, carried, at, {.order = order, .device = on}));
}

TEST(SegmentSort, EachSegmentIsSortedAlone) {
  for (const auto& lengths : tests::mixtures_of_lengths) {
    expect_the_law<float, std::uint32_t>(150'001, in_turn(150'001, lengths), sort_order::ascending);
    expect_the_law<std::int64_t, double>(30'011, in_turn(30'011, lengths), sort_order::descending);
  }
}

TEST(SegmentSort, EveryWayToCutAFewElements) {
  for (std::int64_t n = 0; n <= 4; ++n)
    for (const offsets& at : tests::all_cuts(n))
      expect_the_law<double, float>(static_cast<std::uint64_t>(n), at, sort_order::ascending);
}

TEST(SegmentSort, LengthsAroundEveryStep) {
  offsets at{0};
  for (std::int64_t length = 0; length < 700; ++length) at.push_back(at.back() + length);
  expect_the_law<float, std::uint64_t>(static_cast<std::uint64_t>(at.back()), at, sort_order::descending);
  expect_the_law<std::uint64_t, std::uint32_t>(static_cast<std::uint64_t>(at.back()), at, sort_order::ascending);
}

// On CUDA a tile then has more runs than a group has lanes, and segments of several runs lie where its lanes end.
TEST(SegmentSort, MoreRunsInATileThanLanes) {
  expect_the_law<float, std::uint32_t>(20'011, in_turn(20'011, {18, 35}), sort_order::ascending);
  expect_the_law<std::uint64_t, double>(20'011, in_turn(20'011, {35}), sort_order::descending);
}

TEST(SegmentSort, ManyEmptySegmentsAndVeryLongOnes) {
  constexpr std::int64_t longest = (1 << 22) + 12'345;  // a sort of its own on every device
  expect_the_law<float, std::uint32_t>(longest, {0, 3, 3, longest - 5, longest}, sort_order::ascending);
  const std::int64_t n = (1 << 21) + 12'345;
  expect_the_law<float, std::uint32_t>(n, {0, 1 << 19, (1 << 19) + 1, n - (1 << 20), n}, sort_order::ascending);
  offsets at(20'000, 0);
  at.insert(at.end(), 20'000, 12'345);
  at.insert(at.end(), 20'000, n);
  expect_the_law<std::int32_t, float>(static_cast<std::uint64_t>(n), at, sort_order::ascending);
}

template <class T>
array<T> in_parts(const std::vector<T>& x, const offsets& ends, const device& group) {
  std::vector<std::span<const T>> parts;
  for (std::size_t k = 0, begin = 0; k < ends.size(); begin = static_cast<std::size_t>(ends[k++]))
    parts.push_back(std::span(x).subspan(begin, static_cast<std::size_t>(ends[k]) - begin));
  return upload_parts<T>(group, parts);
}

/// The ranks' parts of the keys end at `ends`, those of values and of results at `others`.
template <class T, class V>
void expect_sorted_on_ranks(std::uint64_t n, const offsets& at, const offsets& ends, const offsets& others,
                            const device& group, sort_order order) {
  const sort_options as{.order = order};
  const std::vector<T> x = keys_with_equals<T>(n, 2);
  std::vector<V> carried(n);
  std::iota(carried.begin(), carried.end(), V(0));
  const sorted_segments<T, V> wanted(x, carried, at, as);
  const auto what = [&] {
    return group.name() + ": keys end at " + testing::PrintToString(ends) + ", values and results at " +
           testing::PrintToString(others) + ", segments begin and end at " + testing::PrintToString(at);
  };
  array<T> keys = in_parts(x, ends, group), keys_out = in_parts(x, others, group);
  array<V> values = in_parts(carried, others, group), values_out = in_parts(carried, ends, group);
  const array<std::int64_t> at_there = group.upload(at);
  ASSERT_TRUE(same_bits(segment_sort(keys, at_there, as).download(), wanted.keys)) << what();
  ASSERT_TRUE(same_bits(segment_argsort(keys, at_there, as).download(), wanted.indices)) << "indices, " << what();
  segment_sort_by_key(keys, values, at_there, keys_out, values_out, as);
  ASSERT_TRUE(same_bits(keys_out.download(), wanted.keys)) << "with values, " << what();
  ASSERT_TRUE(same_bits(values_out.download(), wanted.values)) << "values, " << what();
  segment_sort_by_key(keys, values, at_there, keys, values, as);
  ASSERT_TRUE(same_bits(keys.download(), wanted.keys)) << "in place, " << what();
  ASSERT_TRUE(same_bits(values.download(), wanted.values)) << "values in place, " << what();
}

TEST(SegmentSort, SegmentsThatSeveralRanksShare) {
  std::mt19937_64 random(5);
  const int rounds = tests::test_cover() == tests::cover::few ? 2 : 10;
  for (const std::size_t ranks : {2, 3, 5, 8}) {
    const device group = open(std::to_string(ranks) + "*cpu:serial");
    for (const std::int64_t n : {0, 1, 7, 300, 5000})
      for (int round = 0; round < rounds; ++round) {
        const auto size = static_cast<std::uint64_t>(n);
        const offsets ends = tests::any_ends(ranks, n, random), others = tests::any_ends(ranks, n, random);
        const offsets at = round == 0 ? offsets{0, n} : tests::any_cuts(ends, random);
        ASSERT_NO_FATAL_FAILURE(
            (expect_sorted_on_ranks<float, std::uint64_t>(size, at, ends, others, group, sort_order::ascending)));
        ASSERT_NO_FATAL_FAILURE(
            (expect_sorted_on_ranks<std::int64_t, float>(size, at, ends, others, group, sort_order::descending)));
      }
  }
}

TEST(SegmentSort, WhatIsWrongIsNamedAndNothingIsWritten) {
  const std::vector<float> x(10, 1.0f);
  for (const device& on : tests::devices_with("segment_sort"))
    for (const tests::false_offsets& w : tests::false_offsets_of_ten) {
      std::vector<float> y(10, 5.0f);
      const std::string said = message_of(errc::invalid_argument, [&] { segment_sort(x, w.at, y, {.device = on}); });
      EXPECT_EQ(said, w.says) << on.name();
      EXPECT_EQ(y, std::vector<float>(10, 5.0f)) << on.name();
    }
  std::vector<float> few(3);
  EXPECT_EQ(message_of(errc::invalid_argument,
                       [&] {
                         segment_sort(x, offsets{0, 10}, few);
                       }),
            "the output of a sort must have as many elements as the keys: 10, not 3");
}

}  // namespace
}  // namespace tilewise
