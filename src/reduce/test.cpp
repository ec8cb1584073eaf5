// SPDX-License-Identifier: Apache-2.0
// What only reduce must satisfy; the bits of every variant are checked from the catalog.
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::code_of;

constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();

std::uint32_t bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }

TEST(Reduce, OfNothingIsTheValueThatTheOperatorHasForIt) {
  const std::vector<float> none;
  EXPECT_EQ(bits(reduce(none)), bits(0.0f));
  EXPECT_EQ(reduce(none, {.op = op::product}), 1.0f);
  EXPECT_EQ(reduce(none, {.init = 7.5f}), 7.5f);
  EXPECT_EQ(reduce(none, {.op = op::max, .init = -2.0f}), -2.0f);
  for (op operation : {op::min, op::max})
    EXPECT_EQ(code_of([&] { reduce(none, {.op = operation}); }), errc::invalid_argument);
}

TEST(Reduce, ASumOfNegativeZerosIsANegativeZero) {
  for (std::size_t n : {1u, 3u, 16u, 31u, 100u, 5000u, 300'000u})
    EXPECT_EQ(bits(reduce(std::vector<float>(n, -0.0f))), bits(-0.0f)) << n;
}

TEST(Reduce, EveryNanBecomesTheCanonicalOne) {
  const float odd_nan = __builtin_bit_cast(float, 0xffc12345u);
  for (std::size_t n : {1u, 2u, 17u, 64u, 1000u, 5000u, 300'000u})
    for (op operation : all_ops) {
      std::vector<float> x(n, 2.0f);
      x[n / 2] = odd_nan;
      EXPECT_EQ(bits(reduce(x, {.op = operation})), 0x7fc00000u) << n << " " << name_of(operation);
    }
}

TEST(Reduce, MinimumAndMaximumKnowTheSignOfZero) {
  for (std::size_t n : {2u, 5u, 64u, 777u, 5000u})
    for (std::size_t odd : {std::size_t{0}, n / 2, n - 1}) {
      std::vector<float> x(n, 0.0f);
      x[odd] = -0.0f;
      EXPECT_EQ(bits(reduce(x, {.op = op::min})), bits(-0.0f)) << n << " " << odd;
      for (float& v : x) v = -v;
      EXPECT_EQ(bits(reduce(x, {.op = op::max})), bits(0.0f)) << n << " " << odd;
    }
}

/// However many threads share an array, and whatever is left of it for each.
TEST(Reduce, WhatThreadsTakeIsABlockOfTheOrder) {
  for (const std::size_t n : {262'144u, 300'001u, 999'999u, 2'000'003u}) {
    const std::vector<float> x = tests::wide_floats(n);
    const float expected = reduce(x, {.device = open("cpu:serial"), .variant = "serial"});
    for (const unsigned threads : {1u, 2u, 3u, 5u, 7u})
      EXPECT_EQ(bits(reduce(x, {.device = open("cpu", {.threads = threads})})), bits(expected))
          << n << " elements, " << threads << " threads";
  }
}

TEST(Reduce, TheInitialValueIsTheLeftOperandOfTheWhole) {
  // (1e8 + 3) + 3 loses both, 1e8 + (3 + 3) does not: floats near 1e8 are 8 apart.
  EXPECT_EQ(reduce(std::vector<float>{3.0f, 3.0f}, {.init = 1e8f}), 1e8f + 8.0f);
}

TEST(Reduce, IntegersWrap) {
  const std::vector<std::int32_t> x{std::numeric_limits<std::int32_t>::max(), 1};
  EXPECT_EQ(reduce(x), std::numeric_limits<std::int32_t>::min());
  const std::vector<std::int64_t> big(100, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(reduce(big), -100);
}

TEST(Reduce, CallsFromSeveralThreadsShareTheDefaultDevice) {
  std::vector<float> x(300'001);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(static_cast<float>(i % 1009) - 500.0f, static_cast<int>(i % 37));
  const std::uint32_t expected = bits(reduce(x));
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 10; ++i) wrong += bits(reduce(x)) != expected;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Reduce, AskingForTheWrongThingSaysSo) {
  const std::vector<float> x{1.0f, nan_f};
  EXPECT_EQ(code_of([&] { reduce(x, {.variant = "no_such"}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { reduce(x, {.tuning = "tile=3"}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { reduce(x, {.op = static_cast<op>(9)}); }), errc::invalid_argument);
}

}  // namespace
}  // namespace tilewise
