// SPDX-License-Identifier: Apache-2.0
// What only sorts along an axis must satisfy; the bits of every variant are checked from the catalog.
#include "helpers.hpp"
#include "matrix_lines.hpp"
#include "special_values.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::expect_bits, tests::line_of, tests::message_of;
using tests::wide_floats;

constexpr sort_options descending{.order = sort_order::descending};

/// Wide floats, a third of them what only a total order places: both zeros, infinities, NaNs of both signs.
std::vector<float> special_floats(std::uint64_t count, std::uint64_t seed) {
  std::vector<float> all = wide_floats(count, seed);
  const auto special = tests::special_values<float>();
  for (std::uint64_t i = 0; i < count; i += 3) all[i] = special[i / 3 % special.size()];
  return all;
}

TEST(SortAxis, EachLineIsTheSortOfThatLineAlone) {
  for (const matrix_layout& l : {matrix_layout{1, 1},
                                 {3, 2},
                                 {2, 3},
                                 {17, 15},
                                 {70, 33, 40},
                                 {1000, 5},
                                 {128, 129},
                                 {5, 9000},
                                 {70'003, 3},
                                 {3, 70'003},
                                 {200, 300},
                                 {4'000, 17, 19}}) {
    const std::vector<float> a = special_floats(l.rows * l.stride, 1);
    const matrix_layout packed(l.rows, l.columns);
    for (const axis which : {axis::columns, axis::rows}) {
      const std::vector<float> up = sorted(along(a, l, which)), down = sorted(along(a, l, which), descending);
      ASSERT_EQ(up.size(), packed_elements(packed));
      for (std::uint64_t i = 0; i < lines_of(l, which); i += lines_of(l, which) / 7 + 1) {
        const std::vector<float> line = line_of(a, l, which, i);
        const std::string what =
            std::to_string(l.rows) + "x" + std::to_string(l.columns) + " line " + std::to_string(i);
        expect_bits(line_of(up, packed, which, i), sorted(line), what);
        expect_bits(line_of(down, packed, which, i), sorted(line, descending), what);
      }
    }
  }
}

// Shapes for which a GPU has ways of its own: rows of one element with gaps, single columns, and columns so long that
// each is sorted alone.
TEST(SortAxis, WhateverTheDeviceEachLineIsTheSortOfThatLineAlone) {
  for (const device& on : tests::devices_with("sort_axis"))
    for (const auto& [l, which] : {std::pair(matrix_layout(70, 1, 3), axis::rows),
                                   {{5'000, 1, 3}, axis::columns},
                                   {{(1 << 22) + 1, 2}, axis::columns}}) {
      if (l.rows > 1 << 20 && on.info().backend == "cpu") continue;
      const std::vector<float> a = special_floats(l.rows * l.stride, 4);
      const matrix_layout packed(l.rows, l.columns);
      const std::vector<float> up = sorted(along(a, l, which), {.device = on});
      const std::string what = on.name() + " " + std::to_string(l.rows) + " rows";
      for (std::uint64_t i = 0; i < lines_of(l, which); ++i)
        expect_bits(line_of(up, packed, which, i), sorted(line_of(a, l, which, i)), what);
    }
}

TEST(SortAxis, InPlaceAndIntoRowsThatLieApart) {
  for (const std::uint64_t rows : {60u, 700u}) {  // columns by networks, and longer ones
    const matrix_layout apart(rows, 65, 80), wider(rows, 65, 96);
    const std::vector<float> a = special_floats(rows * 80, 2);
    for (const axis which : {axis::columns, axis::rows}) {
      const std::vector<float> expected = sorted(along(a, apart, which));
      std::vector<float> in_place = a, to(rows * 96, 42.0f);
      tilewise::sort(along(in_place, apart, which));
      tilewise::sort(along(a, apart, which), along(to, wider, which));
      for (std::uint64_t i = 0; i < rows; ++i) {
        EXPECT_EQ(std::memcmp(&in_place[i * 80], &expected[i * 65], 65 * sizeof(float)), 0) << i;
        EXPECT_EQ(std::memcmp(&in_place[i * 80 + 65], &a[i * 80 + 65], 15 * sizeof(float)), 0) << "between rows, " << i;
        EXPECT_EQ(std::memcmp(&to[i * 96], &expected[i * 65], 65 * sizeof(float)), 0) << i;
        EXPECT_EQ(std::vector<float>(&to[i * 96 + 65], &to[i * 96] + 96), std::vector<float>(31, 42.0f)) << i;
      }
    }
  }
}

// Lines that are too few to share out are sorted by all threads, one after another: columns in strips, the last of
// which is narrower than a cache line.
TEST(SortAxis, LongLinesByAllThreads) {
  const device eight = open("cpu:threads", {.threads = 8});
  for (const auto& [l, which] : {std::pair(matrix_layout(40'000, 19, 21), axis::columns), {{5, 40'000}, axis::rows}}) {
    const std::vector<float> a = special_floats(l.rows * l.stride, 3);
    std::vector<float> in_place = a;
    tilewise::sort(along(in_place, l, which), {.device = eight});
    for (std::uint64_t i = 0; i < lines_of(l, which); ++i)
      expect_bits(line_of(in_place, l, which, i), sorted(line_of(a, l, which, i)), std::to_string(i));
  }
}

TEST(SortAxis, ArraysOnADeviceStayThere) {
  const device on = open("cpu:serial");
  const std::vector<float> a = wide_floats(12, 2);
  const matrix_layout l(3, 4);
  EXPECT_EQ(sorted(along(on.upload(a), l, axis::rows)).download(), sorted(along(a, l, axis::rows)));
  array<float> there = on.upload(a);
  tilewise::sort(along(there, l, axis::columns), descending);
  EXPECT_EQ(there.download(), sorted(along(a, l, axis::columns), descending));
}

TEST(SortAxis, NothingIsSortedWhereThereAreNoElements) {
  const std::vector<float> none;
  EXPECT_EQ(sorted(along(none, {0, 3}, axis::columns)), none);
  EXPECT_EQ(sorted(along(none, {3, 0}, axis::rows)), none);
  EXPECT_EQ(sorted(along(std::vector<float>{5.0f, 2.0f}, {1, 2}, axis::columns)), (std::vector<float>{5.0f, 2.0f}));
}

TEST(SortAxis, WhatMakesNoSenseIsRefused) {
  std::vector<float> a(24, 1.0f), out(24);
  const auto said = [&](const auto& call) { return message_of(errc::invalid_argument, call); };
  const auto contains = [](const std::string& text, const char* part) { return text.find(part) != text.npos; };
  EXPECT_EQ(said([&] {
              tilewise::sort(along(a, {3, 4}, axis::rows), along(out, {4, 3}, axis::rows));
            }),
            "A is 3x4 and the output 4x3; there is one result for each element of A");
  EXPECT_TRUE(contains(said([&] { tilewise::sort(along(a, {5, 5}, axis::rows)); }), "A is 5x5"));
  EXPECT_TRUE(contains(said([&] {
                         tilewise::sort(along(a, {3, 4}, axis::rows), along(out, {3, 4, 11}, axis::rows));
                       }),
                       "the output is 3x4 with rows that begin 11 elements apart"));
  EXPECT_TRUE(contains(said([&] { tilewise::sort(along(a, {3, 4, 3}, axis::rows)); }), "stride"));
  EXPECT_TRUE(contains(said([&] { tilewise::sort(along(a, {3, 4}, static_cast<axis>(7))); }), "axis"));
  EXPECT_TRUE(contains(said([&] {
                         tilewise::sort(along(a, {3, 4}, axis::rows), {.order = static_cast<sort_order>(7)});
                       }),
                       "order"));
  const std::vector<float> before = a;
  for (const matrix_layout& other : {matrix_layout(3, 4, 5), {3, 4, 6}})
    EXPECT_TRUE(contains(said([&] {
                           tilewise::sort(along(a, {3, 4}, axis::rows), along(a, other, axis::rows));
                         }),
                         "shares memory"));
  EXPECT_TRUE(
      contains(said([&] {
                 tilewise::sort(along(a, {3, 4}, axis::rows), along(std::span(a).subspan(4), {3, 4}, axis::rows));
               }),
               "shares memory"));
  EXPECT_EQ(a, before);
}

}  // namespace
}  // namespace tilewise
