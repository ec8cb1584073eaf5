// SPDX-License-Identifier: Apache-2.0
// What only scans along an axis must satisfy; the bits of every variant are checked from the catalog.
#include "helpers.hpp"
#include "matrix_lines.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::expect_bits, tests::line_of, tests::message_of;
using tests::wide_floats;

TEST(ScanAxis, EachLineIsTheScanOfThatLineAlone) {
  for (const matrix_layout& l : {matrix_layout{1, 1},
                                 {3, 2},
                                 {2, 3},
                                 {17, 15},
                                 {70, 33, 40},
                                 {1000, 5},
                                 {5, 9000},
                                 {200'003, 3},
                                 {3, 200'003},
                                 {700, 700},
                                 {40'000, 17, 19}}) {
    const std::vector<float> a = wide_floats(l.rows * l.stride, 1);
    const matrix_layout packed(l.rows, l.columns);
    for (const axis which : {axis::columns, axis::rows}) {
      const std::vector<float> sums = inclusive_scan(along(a, l, which));
      const std::vector<float> least = exclusive_scan(along(a, l, which), {.op = op::min, .init = 0.5f});
      ASSERT_EQ(sums.size(), packed_elements(packed));
      for (std::uint64_t i = 0; i < lines_of(l, which); i += lines_of(l, which) / 7 + 1) {
        const std::vector<float> line = line_of(a, l, which, i);
        const std::string what =
            std::to_string(l.rows) + "x" + std::to_string(l.columns) + " line " + std::to_string(i);
        expect_bits(line_of(sums, packed, which, i), inclusive_scan(line), what);
        expect_bits(line_of(least, packed, which, i), exclusive_scan(line, {.op = op::min, .init = 0.5f}), what);
      }
    }
  }
}

TEST(ScanAxis, InPlaceAndIntoRowsThatLieApart) {
  const matrix_layout apart(700, 65, 80), wider(700, 65, 96);
  const std::vector<float> a = wide_floats(700 * 80, 2);
  for (const axis which : {axis::columns, axis::rows}) {
    const std::vector<float> expected = inclusive_scan(along(a, apart, which));
    std::vector<float> in_place = a, to(700 * 96, 42.0f);
    inclusive_scan(along(in_place, apart, which), along(in_place, apart, which));
    inclusive_scan(along(a, apart, which), along(to, wider, which));
    for (std::uint64_t i = 0; i < 700; ++i) {
      EXPECT_EQ(std::memcmp(&in_place[i * 80], &expected[i * 65], 65 * sizeof(float)), 0) << i;
      EXPECT_EQ(std::memcmp(&in_place[i * 80 + 65], &a[i * 80 + 65], 15 * sizeof(float)), 0) << "between rows, " << i;
      EXPECT_EQ(std::memcmp(&to[i * 96], &expected[i * 65], 65 * sizeof(float)), 0) << i;
      EXPECT_EQ(std::vector<float>(&to[i * 96 + 65], &to[i * 96] + 96), std::vector<float>(31, 42.0f)) << i;
    }
  }
}

/// Several of these are scanned at once where nothing lies between them.
TEST(ScanAxis, ShortRowsLeaveWhatLiesBetweenThem) {
  constexpr std::uint64_t rows = 100;
  for (std::uint64_t n = 1; n <= 9; ++n)
    for (const auto& [gap, gap_of_out] : {std::pair<std::uint64_t, std::uint64_t>{0, 3}, {3, 0}, {2, 5}}) {
      const matrix_layout from(rows, n, n + gap), to(rows, n, n + gap_of_out);
      const std::vector<float> a = wide_floats(rows * from.stride, n);
      std::vector<float> out(rows * to.stride, 42.0f), expected = out;
      for (std::uint64_t i = 0; i < rows; ++i) {
        const std::vector<float> row = inclusive_scan(std::span(a).subspan(i * from.stride, n));
        std::copy(row.begin(), row.end(), expected.begin() + static_cast<std::ptrdiff_t>(i * to.stride));
      }
      inclusive_scan(along(a, from, axis::rows), along(out, to, axis::rows));
      expect_bits(out, expected, std::to_string(n) + " columns, gaps of " + std::to_string(gap_of_out));
    }
}

TEST(ScanAxis, OutputPastTheCachesHasTheSameBitsAtEveryAlignment) {
  const std::uint64_t cache = open("cpu").info().cache;
  if (cache == 0 || cache > (std::uint64_t{64} << 20)) GTEST_SKIP() << "no small last-level cache";
  const std::uint64_t columns = 2080, rows = cache / sizeof(float) / 2 / columns + 1;
  const matrix_layout l(rows, columns);
  const std::vector<float> a = wide_floats(rows * columns, 3);
  for (const axis which : {axis::columns, axis::rows}) {
    std::vector<float> in_cache = a, y(a.size() + 17, 42.0f);
    inclusive_scan(along(in_cache, l, which), along(in_cache, l, which));  // in place: not streamed
    for (const std::size_t offset : {0u, 1u, 16u}) {
      inclusive_scan(along(a, l, which), along(std::span(y).subspan(offset, a.size()), l, which));
      EXPECT_EQ(std::memcmp(&y[offset], in_cache.data(), a.size() * sizeof(float)), 0) << offset;
    }
    EXPECT_EQ(y.back(), 42.0f);
  }
}

TEST(ScanAxis, ArraysOnADeviceStayThere) {
  const device on = open("cpu:serial");
  const std::vector<float> a = wide_floats(12, 2);
  const matrix_layout l(3, 4);
  EXPECT_EQ(inclusive_scan(along(on.upload(a), l, axis::rows)).download(), inclusive_scan(along(a, l, axis::rows)));
  EXPECT_EQ(exclusive_scan(along(on.upload(a), l, axis::columns), {.init = 2.0f}).download(),
            exclusive_scan(along(a, l, axis::columns), {.init = 2.0f}));
  array<float> there = on.upload(a);
  inclusive_scan(along(there, l, axis::columns), along(there, l, axis::columns), {.init = 1.0f});
  EXPECT_EQ(there.download(), inclusive_scan(along(a, l, axis::columns), {.init = 1.0f}));
}

TEST(ScanAxis, NothingIsScannedWhereThereAreNoElements) {
  const std::vector<float> none;
  EXPECT_EQ(inclusive_scan(along(none, {0, 3}, axis::columns)), none);
  EXPECT_EQ(exclusive_scan(along(none, {3, 0}, axis::rows)), none);
  EXPECT_EQ(exclusive_scan(along(std::vector<float>(2, 5.0f), {1, 2}, axis::columns)), std::vector<float>(2, 0.0f));
}

TEST(ScanAxis, WhatMakesNoSenseIsRefused) {
  std::vector<float> a(24, 1.0f), out(24);
  const auto said = [&](const auto& call) { return message_of(errc::invalid_argument, call); };
  const auto contains = [](const std::string& text, const char* part) { return text.find(part) != text.npos; };
  EXPECT_EQ(said([&] {
              inclusive_scan(along(a, {3, 4}, axis::rows), along(out, {4, 3}, axis::rows));
            }),
            "A is 3x4 and the output 4x3; there is one result for each element of A");
  EXPECT_TRUE(contains(said([&] {
                         inclusive_scan(along(a, {5, 5}, axis::rows), along(out, {5, 5}, axis::rows));
                       }),
                       "A is 5x5"));
  EXPECT_TRUE(contains(said([&] {
                         inclusive_scan(along(a, {3, 4}, axis::rows), along(out, {3, 4, 11}, axis::rows));
                       }),
                       "the output is 3x4 with rows that begin 11 elements apart"));
  EXPECT_TRUE(contains(said([&] {
                         inclusive_scan(along(a, {3, 4, 3}, axis::rows), along(out, {3, 4}, axis::rows));
                       }),
                       "stride"));
  EXPECT_TRUE(contains(said([&] {
                         exclusive_scan(along(a, {3, 4}, axis::rows), along(out, {3, 4}, axis::rows), {.op = op::max});
                       }),
                       "give an initial value"));
  EXPECT_TRUE(
      contains(said([&] {
                 inclusive_scan(along(a, {3, 4}, static_cast<axis>(7)), along(out, {3, 4}, static_cast<axis>(7)));
               }),
               "axis"));
  const std::vector<float> before = a;
  for (const matrix_layout& other : {matrix_layout(3, 4, 5), {3, 4, 6}})
    EXPECT_TRUE(contains(said([&] {
                           inclusive_scan(along(a, {3, 4}, axis::rows), along(a, other, axis::rows));
                         }),
                         "shares memory"));
  EXPECT_TRUE(
      contains(said([&] {
                 inclusive_scan(along(a, {3, 4}, axis::rows), along(std::span(a).subspan(4), {3, 4}, axis::rows));
               }),
               "shares memory"));
  EXPECT_EQ(a, before);
}

}  // namespace
}  // namespace tilewise
