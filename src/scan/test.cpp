// SPDX-License-Identifier: Apache-2.0
// What only scan must satisfy; the bits of every variant are checked from the catalog.
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::code_of;

std::uint32_t bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }

/// Exponents over a wide range: any other association gives other bits.
std::vector<float> wide(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = std::ldexp(static_cast<float>(i * 7919 % 2003) - 1000.5f, static_cast<int>(i * i % 29) - 14);
  return x;
}

TEST(Scan, EveryInclusiveOutputIsTheReductionOfItsPrefix) {
  // 4097 and more elements go through the device, fewer straight to the kernel; a stride keeps the test short.
  for (std::size_t n : {1u, 15u, 16u, 17u, 255u, 257u, 4096u, 4097u, 70'001u})
    for (op operation : all_ops) {
      const std::vector<float> x = wide(n);
      std::vector<float> y(n);
      inclusive_scan(x, y, {.op = operation});
      for (std::size_t i = 0; i < n; i += 1 + i / 64)
        ASSERT_EQ(bits(y[i]), bits(reduce(std::span<const float>(x.data(), i + 1), {.op = operation})))
            << name_of(operation) << " n=" << n << " i=" << i;
    }
}

TEST(Scan, ExclusiveIsInitThenInitPlusThePrefixBefore) {
  for (std::size_t n : {1u, 2u, 16u, 33u, 256u, 4096u, 20'000u}) {
    const std::vector<float> x = wide(n);
    std::vector<float> inclusive(n), exclusive(n);
    inclusive_scan(x, inclusive);
    exclusive_scan(x, exclusive, {.init = 0.375f});
    ASSERT_EQ(bits(exclusive[0]), bits(0.375f));
    for (std::size_t i = 1; i < n; ++i) ASSERT_EQ(bits(exclusive[i]), bits(0.375f + inclusive[i - 1])) << n << " " << i;
  }
}

TEST(Scan, ExclusiveWithoutInitStartsFromTheOperatorsValue) {
  const std::vector<float> x{5.0f, 2.0f};
  std::vector<float> y(2);
  const std::span<float> out(y);
  exclusive_scan(x, out);
  EXPECT_EQ(y, (std::vector<float>{0.0f, 5.0f}));
  exclusive_scan(x, out, {.op = op::product});
  EXPECT_EQ(y, (std::vector<float>{1.0f, 5.0f}));
  for (op operation : {op::min, op::max})
    EXPECT_EQ(code_of([&] { exclusive_scan(x, out, {.op = operation}); }), errc::invalid_argument);
}

TEST(Scan, InPlaceGivesTheSameBits) {
  for (std::size_t n : {1u, 31u, 1000u, 4096u, 200'003u}) {
    std::vector<float> x = wide(n);
    std::vector<float> y(n);
    inclusive_scan(x, y);
    inclusive_scan(x, x);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(bits(x[i]), bits(y[i])) << n << " " << i;
  }
}

TEST(Scan, NothingBesideTheOutputIsWritten) {
  for (std::size_t n : {1u, 7u, 16u, 100u, 255u, 4095u, 40'001u})
    for (std::size_t offset : {1u, 3u}) {
      const std::vector<float> x = wide(n);
      std::vector<float> y(n + 64, 42.0f);
      inclusive_scan(x, std::span<float>(y.data() + offset, n));
      for (std::size_t i = 0; i < offset; ++i) ASSERT_EQ(y[i], 42.0f);
      for (std::size_t i = offset + n; i < y.size(); ++i) ASSERT_EQ(y[i], 42.0f) << n;
    }
}

TEST(Scan, OutputPastTheCachesHasTheSameBitsAtEveryAlignment) {
  // Together larger than the last-level cache: written with streaming stores.
  const std::uint64_t cache = open("cpu").info().cache;
  if (cache == 0 || cache > (std::uint64_t{64} << 20)) GTEST_SKIP() << "no small last-level cache";
  const std::size_t n = cache / sizeof(float) / 2 / 32768 * 32768 + 32768 + 5;  // the last tile: under one vector
  const std::vector<float> x = wide(n);
  std::vector<float> small = x, y(n + 3, 42.0f);
  inclusive_scan(small, small);  // in place: not streamed
  for (std::size_t offset : {3u, 0u}) {
    inclusive_scan(x, std::span<float>(y.data() + offset, n));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(bits(y[i + offset]), bits(small[i])) << offset << " " << i;
    if (offset != 0) {
      EXPECT_EQ(y[offset - 1], 42.0f);
    }
  }
}

TEST(Scan, BadSizesAndOverlapsAreRefusedAndTouchNothing) {
  std::vector<float> x = wide(100);
  const std::vector<float> before = x;
  std::vector<float> y(99, 1.0f);
  EXPECT_EQ(code_of([&] { inclusive_scan(x, y); }), errc::invalid_argument);
  const std::span<float> all(x);
  EXPECT_EQ(code_of([&] { inclusive_scan(all.first(50), all.subspan(1, 50)); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { inclusive_scan(all.subspan(49, 50), all.first(50)); }), errc::invalid_argument);
  EXPECT_EQ(x, before);
  inclusive_scan(all.first(50), all.subspan(50));  // side by side is fine
}

TEST(Scan, NansBecomeCanonicalAndNegativeZerosStay) {
  for (std::size_t n : {1u, 20u, 300u, 5000u}) {
    std::vector<float> x(n, -0.0f), y(n);
    inclusive_scan(x, y);
    for (float v : y) ASSERT_EQ(bits(v), bits(-0.0f));
    x[n / 2] = __builtin_bit_cast(float, 0xff812345u);
    for (op operation : all_ops) {
      inclusive_scan(x, y, {.op = operation});
      for (std::size_t i = n / 2; i < n; ++i) ASSERT_EQ(bits(y[i]), 0x7fc00000u) << name_of(operation) << " " << i;
    }
  }
}

}  // namespace
}  // namespace tilewise
