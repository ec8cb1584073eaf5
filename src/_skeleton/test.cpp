// SPDX-License-Identifier: Apache-2.0
// What only skeleton must satisfy; the registry's tests check that every variant has the bits of skeleton/serial.
#include "_skeleton/skeleton.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace {

TEST(Skeleton, NegatesTheSignBitAndCanonicalisesNaN) {
  const std::vector<float> x{1.5f, 0.0f, -0.0f, -std::numeric_limits<float>::infinity(), std::nanf("7")};
  std::vector<float> y(x.size());
  tilewise::skeleton(x, y);
  const std::vector<std::uint32_t> expected{0xbfc00000u, 0x80000000u, 0u, 0x7f800000u, 0x7fc00000u};
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(std::bit_cast<std::uint32_t>(y[i]), expected[i]) << i;
}

TEST(Skeleton, WrapsIntegersAndWorksInPlace) {
  std::vector<std::int32_t> x{0, 1, std::numeric_limits<std::int32_t>::min()};
  tilewise::skeleton(x, x);
  EXPECT_EQ(x, (std::vector<std::int32_t>{0, -1, std::numeric_limits<std::int32_t>::min()}));
}

TEST(Skeleton, HasTheFormsOfEveryCall) {
  const std::vector<double> x{1.5, -2, 0}, negated{-1.5, 2, -0.0};
  std::vector<double> y(x.size());
  tilewise::skeleton(x, y);
  EXPECT_EQ(y, negated);
  EXPECT_EQ(tilewise::skeleton(x), negated);
  EXPECT_EQ(tilewise::skeleton(tilewise::open("cpu").upload(x)).download(), negated);
}

TEST(Skeleton, RefusesAnOutputOfAnotherSize) {
  const std::vector<double> x{1, 2};
  std::vector<double> y(3, 7.0);
  EXPECT_THROW(tilewise::skeleton(x, y), tilewise::error);
  EXPECT_EQ(y, std::vector<double>(3, 7.0));
}

}  // namespace
