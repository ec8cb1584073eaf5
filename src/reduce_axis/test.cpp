// SPDX-License-Identifier: Apache-2.0
// What only reductions along an axis must satisfy; the bits of every variant are checked from the catalog.
#include "catalog_sweep.hpp"
#include "helpers.hpp"
#include "matrix_lines.hpp"
#include "registry/catalog.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::line_of, tests::message_of;
using tests::wide_floats;

std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }

TEST(ReduceAxis, EachValueIsTheReductionOfItsLineAlone) {
  for (const matrix_layout& l : {matrix_layout{1, 1},
                                 {3, 2},
                                 {2, 3},
                                 {17, 15},
                                 {70, 33, 40},
                                 {1000, 5},
                                 {5, 9000},
                                 {1'000'003, 3},
                                 {3, 1'000'003},
                                 {700, 700},
                                 {40'000, 17, 19}}) {
    const std::vector<float> a = wide_floats(l.rows * l.stride, 1);
    for (const axis which : {axis::columns, axis::rows}) {
      const std::vector<float> sums = reduce(along(a, l, which));
      ASSERT_EQ(sums.size(), lines_of(l, which));
      std::vector<float> least(sums.size());
      reduce(along(a, l, which), least, {.op = op::min, .init = 0.5f});
      for (std::size_t i = 0; i < sums.size(); i += sums.size() / 7 + 1) {
        const std::vector<float> line = line_of(a, l, which, i);
        const std::string what =
            std::to_string(l.rows) + "x" + std::to_string(l.columns) + " line " + std::to_string(i);
        EXPECT_EQ(bits_of(sums[i]), bits_of(reduce(line))) << what;
        EXPECT_EQ(bits_of(least[i]), bits_of(reduce(line, {.op = op::min, .init = 0.5f}))) << what;
      }
    }
  }
}

/// Lines of 64 tiles and of one element more, whichever power of two a variant's tile is: a level of tiles above that
/// of the sweeps' shapes, with the shortest rest.
TEST(ReduceAxis, OneElementBeyondManyTilesCounts) {
  for (const tests::sweep_target& target : tests::sweep_targets()) {
    if (target.variant.algorithm != "reduce_axis") continue;
    tests::sweep_runner runner(target);
    registry::tuning smallest;
    for (std::size_t i = 0; i < target.variant.tuning.size(); ++i)
      smallest.value[i] = target.variant.tuning[i].values.front();
    for (std::uint64_t tile = 8, round = 0; tile <= 2048; tile *= 2, ++round)
      for (const std::uint64_t length : {64 * tile, 64 * tile + 1})
        for (const bool of_rows : {false, true}) {
          const std::uint64_t lines = 1 + round % 3;
          registry::problem p{.what = &registry::find_algorithm("reduce_axis"), .shape = {length, lines}};
          if (of_rows) p.shape = {lines, length};
          registry::choose_setting(p, "axis", of_rows ? "rows" : "columns");
          const tests::sweep_case c{.problem = p,
                                    .data = lab::data_class::uniform,
                                    .seed = tile,
                                    .options = {},
                                    .tuning = smallest,
                                    .place = tests::placement::apart};
          if (!runner.unsupported(c).empty()) continue;
          const std::string wrong = runner.run(c);
          EXPECT_TRUE(wrong.empty()) << to_string(c, target) << ": " << wrong;
        }
  }
}

TEST(ReduceAxis, ArraysOnADeviceStayThere) {
  const device on = open("cpu:serial");
  const std::vector<float> a = wide_floats(12, 2);
  const matrix_layout l(3, 4);
  EXPECT_EQ(reduce(along(on.upload(a), l, axis::rows)).download(), reduce(along(a, l, axis::rows)));
  array<float> values = on.allocate<float>(4);
  reduce(along(on.upload(a), l, axis::columns), values, {.init = 1.0f});
  EXPECT_EQ(values.download()[0], reduce(line_of(a, l, axis::columns, 0), {.init = 1.0f}));
}

TEST(ReduceAxis, EmptyLinesHaveTheValueOfAnEmptyReduction) {
  const std::vector<float> none;
  EXPECT_EQ(reduce(along(none, {0, 3}, axis::columns)), std::vector<float>(3, 0.0f));
  EXPECT_EQ(reduce(along(none, {3, 0}, axis::rows), {.op = op::product}), std::vector<float>(3, 1.0f));
  EXPECT_EQ(reduce(along(none, {0, 3}, axis::rows)), none);
  EXPECT_EQ(reduce(along(none, {0, 3}, axis::rows), {.op = op::min}), none);
  std::vector<float> given(3);
  reduce(along(none, {0, 3}, axis::columns), given, {.op = op::min, .init = 7.0f});
  EXPECT_EQ(given, std::vector<float>(3, 7.0f));
}

TEST(ReduceAxis, WhatMakesNoSenseIsRefused) {
  const std::vector<float> a(12, 1.0f), none;
  std::vector<float> three(3), four(4);
  EXPECT_EQ(message_of(errc::invalid_argument,
                       [&] {
                         reduce(along(a, {3, 4}, axis::rows), four);
                       }),
            "A is 3x4 and there is room for 4 values; there is one for each of its rows");
  EXPECT_EQ(message_of(errc::invalid_argument,
                       [&] {
                         reduce(along(a, {3, 4}, axis::columns), three);
                       }),
            "A is 3x4 and there is room for 3 values; there is one for each of its columns");
  EXPECT_NE(message_of(errc::invalid_argument,
                       [&] {
                         reduce(along(a, {3, 5}, axis::rows), three);
                       })
                .find("3x5"),
            std::string::npos);
  EXPECT_NE(message_of(errc::invalid_argument,
                       [&] {
                         reduce(along(a, {3, 4, 3}, axis::rows), three);
                       })
                .find("stride"),
            std::string::npos);
  EXPECT_NE(message_of(errc::invalid_argument,
                       [&] {
                         reduce(along(none, {0, 3}, axis::columns), three, {.op = op::max});
                       })
                .find("give an initial value"),
            std::string::npos);
  EXPECT_NE(message_of(errc::invalid_argument,
                       [&] {
                         reduce(along(a, {3, 4}, static_cast<axis>(7)), three);
                       })
                .find("axis"),
            std::string::npos);
  std::vector<float> shared = a;
  EXPECT_THROW(reduce(along(std::span<const float>(shared), {3, 4}, axis::rows), std::span(shared).first(3)), error);
}

}  // namespace
}  // namespace tilewise
