// SPDX-License-Identifier: Apache-2.0
// What matmul/cuda:tf32 must satisfy where there is a GPU. Its bound is wide, so that a few elements too few or too
// many in a sum hide in it: here the operands are small integers, whose products and sums no unit rounds.
#include "cache_fixture.hpp"
#include "cuda_fixture.hpp"
#include "float_product.hpp"
#include "helpers.hpp"
#include "registry/choose.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using form = tests::float_product::form;

/// From -3 to 3.
std::vector<float> small_integers(std::uint64_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (float& value : values) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    value = static_cast<float>(state % 7) - 3;
  }
  return values;
}

struct product : tests::float_product {
  explicit product(const form& of)
      : float_product{of, small_integers(of.m * of.lda, 1), small_integers(of.k * of.ldb, 2)} {}
};

class MatmulTf32 : public tests::cuda_device_test {
 protected:
  static registry::tuning tile(std::string_view word) {
    return registry::parse_tuning("tile=" + std::string(word), variant().tuning);
  }
  static const registry::variant& variant() { return registry::find_variant("matmul/cuda:tf32"); }

  std::string unsupported(const form& f, std::string_view word) const {
    return registry::unsupported_reason(variant(), f.problem(), *device_, tile(word));
  }

  std::vector<float> run(const product& p, std::string_view word) {
    return p.run(variant(), tile(word), device_->queue());
  }

  void expect_product(const product& p, std::string_view word) {
    const std::vector<float> got = run(p, word), expected = p.expected();
    const auto first = std::mismatch(got.begin(), got.end(), expected.begin());
    EXPECT_TRUE(first.first == got.end()) << p.f.text() << " tile=" << word << ": element " << first.first - got.begin()
                                          << " is " << *first.first << " instead of " << *first.second;
  }

  bool is_hopper() const { return device_->info().compute_capability == 90; }

  const std::span<const std::string_view> tiles = variant().tuning[0].words;
};

/// Around and beyond tiles, steps of 32 k's, odd and even numbers of them, fewer and more than stages; rows apart, C's
/// at any distance; more tiles than compute units, so that groups take several.
constexpr std::array<form, 15> forms{{{1, 1, 1, 4, 4, 1},
                                      {256, 128, 32, 32, 128, 128},
                                      {255, 127, 31, 32, 128, 127},
                                      {257, 129, 33, 36, 132, 131},
                                      {65, 63, 300, 300, 64, 64},
                                      {256, 128, 64, 64, 128, 128},
                                      {256, 128, 65, 68, 128, 130},
                                      {300, 260, 530, 532, 260, 260},
                                      {300, 260, 159, 160, 264, 261},
                                      {1000, 1037, 1003, 1004, 1040, 1040},
                                      {5000, 3, 700, 700, 4, 3},
                                      {3, 5000, 700, 700, 5000, 5000},
                                      {2304, 2200, 70, 72, 2200, 2201},
                                      {4100, 4100, 3, 4, 4100, 4100},
                                      {2100, 2300, 200, 200, 2304, 2302}}};

TEST_F(MatmulTf32, SmallIntegersAreMultipliedWithoutError) {
  for (const form& f : forms) {
    const product p(f);
    for (const std::string_view word : tiles) {
      const std::string why = unsupported(f, word);
      EXPECT_TRUE(why.empty() || !is_hopper() || why.find("this build") != why.npos) << f.text() << ": " << why;
      if (why.empty()) expect_product(p, word);
    }
  }
}

/// What bulk copies cannot read is copied for warpgroups, by segments of 512 columns: fewer and more than these, than a
/// cache line, and than the rows of a group; of A, of B and of both. Small products by size are left to single warps.
TEST_F(MatmulTf32, RowsMayBeginAnywhere) {
  for (const form& f : {form{2304, 2200, 70, 71, 2200, 2200},
                        {2304, 2200, 70, 72, 2201, 2200},
                        {2304, 2201, 70, 70, 2201, 2201},
                        {300, 260, 1025, 1025, 263, 261},
                        {257, 33, 1, 3, 33, 33},
                        {9, 1100, 40, 41, 1101, 1100},
                        {1, 300, 513, 513, 301, 303},
                        {300, 1, 513, 515, 1, 1},
                        {1, 1, 1030, 1030, 1, 1},
                        {1, 1, 1, 1, 1, 1}})
    for (const std::string_view word : tiles)
      if (unsupported(f, word).empty()) expect_product(product(f), word);
  for (const form& f : {form{300, 260, 70, 72, 260, 260}, {300, 260, 300, 300, 260, 260}})
    for (unsigned which = 1; which < 8; ++which) {
      product p(f);
      for (unsigned i = 0; i < 3; ++i) p.shift[i] = which >> i & 1u ? sizeof(float) : 0;
      for (const std::string_view word : tiles)
        if (unsupported(f, word).empty()) expect_product(p, word);
    }
}

TEST_F(MatmulTf32, WithoutProductsAllIsZero) {
  for (const form& f : {form{30, 20, 0, 4, 20, 23}, {2304, 2200, 0, 4, 2200, 2200}})
    for (const std::string_view word : tiles)
      if (unsupported(f, word).empty()) expect_product(product(f), word);
}

/// Times the identity each element of A, and of B, is rounded by itself.
TEST_F(MatmulTf32, OperandsAreRoundedToTheNearest) {
  const form f{270, 270, 270, 272, 272, 272};
  for (const bool is_a : {true, false})
    for (const std::string_view word : tiles) {
      if (!unsupported(f, word).empty()) continue;
      product p(f);
      std::vector<float>&values = is_a ? p.a : p.b, &one = is_a ? p.b : p.a;
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = (i % 2 == 0 ? 1.0f : -1.0f) * (1 + static_cast<float>(i * 2654435761u % 8388608u) / 8388608.0f);
      for (std::size_t i = 0; i < one.size(); ++i) one[i] = i % f.lda == i / f.lda ? 1.0f : 0.0f;
      const std::vector<float> c = run(p, word);
      for (std::uint64_t i = 0; i < f.m; ++i)
        for (std::uint64_t j = 0; j < f.n; ++j) {
          const float x = values[i * f.lda + j], y = c[i * f.ldc + j];
          ASSERT_EQ(std::bit_cast<std::uint32_t>(y) % 8192, 0u) << word << ": " << i << ", " << j;
          ASSERT_LE(std::fabs(y - x), std::ldexp(1.0f, -11)) << word << ": " << x << " became " << y;
        }
    }
}

/// Which of the kernels has run shows in 1 + 2^-11, between two numbers of 10 bits: warpgroups round it to even, the
/// others away from 0.
class MatmulTf32Kernels : public MatmulTf32 {
 protected:
  static constexpr float between = 1 + 0x1p-11f, even = 1, away = 1 + 0x1p-10f;
  static constexpr form small{300, 260, 4, 4, 260, 261}, apart{300, 260, 4, 5, 260, 260},
      large_apart{300, 260, 600, 601, 260, 260};

  void SetUp() override {
    MatmulTf32::SetUp();
    if (IsSkipped()) return;
    if (!is_hopper()) GTEST_SKIP() << "needs compute capability 9.0";
    if (const std::string why = unsupported(small, "64x64"); !why.empty()) GTEST_SKIP() << why;
  }

  static product product_that_shows(const form& f) {
    product p(f);
    std::fill(p.a.begin(), p.a.end(), 0.0f);
    std::fill(p.b.begin(), p.b.end(), 1.0f);
    for (std::uint64_t i = 0; i < f.m; ++i) p.a[i * f.lda] = between;
    return p;
  }
  void expect_all(const product& p, std::string_view word, float rounded) {
    const std::vector<float> c = run(p, word);
    for (std::uint64_t i = 0; i < p.f.m; ++i)
      for (std::uint64_t j = 0; j < p.f.n; ++j)
        ASSERT_EQ(c[i * p.f.ldc + j], rounded) << word << " " << p.f.text() << ": " << i << ", " << j;
  }
};

TEST_F(MatmulTf32Kernels, WarpgroupsMultiplyWhateverIsWorthIt) {
  for (const form& f : {form{1, 1, 1, 4, 4, 1}, small})
    for (const std::string_view word : tiles) {
      const bool is_of_warpgroups = word == "by_size" || word.find('x') != word.npos;
      expect_all(product_that_shows(f), word, is_of_warpgroups ? even : away);
    }
  product shifted = product_that_shows(small);
  shifted.shift[0] = sizeof(float);
  for (const product& p : {product_that_shows(apart), shifted}) {
    expect_all(p, "by_size", away);
    expect_all(p, "64x64", even);
  }
  expect_all(product_that_shows(large_apart), "by_size", even);
  for (const auto& [columns, rounded] : {std::pair{32, away}, {33, even}}) {
    const std::uint64_t n = columns;
    expect_all(product_that_shows({300, n, 600, 601, n, n}), "by_size", rounded);
  }
}

TEST_F(MatmulTf32Kernels, WithoutRoomForCopiesSingleWarpsStandIn) {
  const tests::environment_variable limit("TILEWISE_DEVICE_MEMORY", "2M");
  device_ = backend::find_device("cuda:0", {});
  const product p = product_that_shows(large_apart);
  for (const char* word : {"by_size", "64x64"}) expect_all(p, word, away);
  expect_all(product_that_shows({300, 260, 600, 600, 260, 260}), "by_size", even);  // which needs no copy
}

/// They reach their row or column and no other: not by what lies beyond the end of K, nor by the zeros beyond B's
/// columns.
TEST_F(MatmulTf32, InfinitiesAndNaNsStayInTheirRowAndColumn) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const form& f : {form{300, 260, 37, 40, 260, 261}, {300, 260, 37, 41, 261, 261}})
    for (const std::string_view word : tiles) {
      if (!unsupported(f, word).empty()) continue;
      product p(f);
      for (std::vector<float>* values : {&p.a, &p.b})
        for (float& x : *values) x = std::fabs(x) + 1;
      for (std::uint64_t i = 0; i < f.m; ++i)  // what no product may use
        for (std::uint64_t k = f.k; k < f.lda; ++k) p.a[i * f.lda + k] = infinity;
      p.a[290 * f.lda + 36] = infinity;
      p.a[7 * f.lda] = std::bit_cast<float>(0xffc12345u);
      p.a[9 * f.lda] = std::bit_cast<float>(0x7f800001u);  // all of its fraction in bits that TF32 leaves out
      p.b[36 * f.ldb + 259] = -infinity;
      const std::vector<float> c = run(p, word), expected = p.expected();
      for (std::uint64_t i = 0; i < f.m; ++i)
        for (std::uint64_t j = 0; j < f.n; ++j)
          ASSERT_EQ(std::bit_cast<std::uint32_t>(c[i * f.ldc + j]),
                    std::bit_cast<std::uint32_t>(expected[i * f.ldc + j]))
              << word << ": " << i << ", " << j;
    }
}

}  // namespace
}  // namespace tilewise
