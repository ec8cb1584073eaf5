// SPDX-License-Identifier: Apache-2.0
// What only matmul must satisfy; the bits of every variant at the edge shapes are checked from the catalog.
#include "backend/cpu/device.hpp"
#include "helpers.hpp"
#include "special_values.hpp"

#include <tilewise/tilewise.hpp>

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::bits_like;
using tests::code_of;
using tests::message_of;

/// All bits of the significand random, exponents over a range of 13, both signs: most steps of a chain round, and it
/// shows when they come in another order, in parts, or with the product rounded by itself. Integers are arbitrary.
template <class T>
std::vector<T> random_values(std::uint64_t count, std::uint64_t seed) {
  std::vector<T> values(count);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (T& value : values) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    if constexpr (constexpr int digits = std::numeric_limits<T>::digits; std::is_floating_point_v<T>)
      value = std::ldexp(
          static_cast<T>(static_cast<std::int64_t>(state >> (64 - digits)) - (std::int64_t{1} << (digits - 1))),
          static_cast<int>(state % 13) - 6 - digits);
    else
      value = static_cast<T>(state);
  }
  return values;
}

template <class T>
T chain_step(T a, T b, T c) {
  using word = bits_like<T>;
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(a, b, c);
  else
    return static_cast<T>(static_cast<word>(a) * static_cast<word>(b) + static_cast<word>(c));
}

/// The definition once more, one element at a time.
template <class T>
T chain(const std::vector<T>& a, matrix_layout of_a, const std::vector<T>& b, matrix_layout of_b, std::uint64_t i,
        std::uint64_t j) {
  T c = 0;
  for (std::uint64_t k = 0; k < of_a.columns; ++k) c = chain_step(a[i * of_a.stride + k], b[k * of_b.stride + j], c);
  if constexpr (std::is_floating_point_v<T>)
    if (c != c) return std::bit_cast<T>(sizeof(T) == 4 ? bits_like<T>(0x7fc00000u) : bits_like<T>(0x7ff8000000000000u));
  return c;
}

template <class T>
bits_like<T> bits(T value) {
  return std::bit_cast<bits_like<T>>(value);
}

template <class T>
struct product {
  matrix_layout of_a, of_b, of_c;
  std::vector<T> a, b, c;

  product(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::uint64_t gap = 0)
      : of_a(m, k, k + gap + (k + gap == 0)),
        of_b(k, n, n + 2 * gap + (n + gap == 0)),
        of_c(m, n, n + 3 * gap + (n + gap == 0)),
        a(random_values<T>(m * of_a.stride, 1)),
        b(random_values<T>(k * of_b.stride, 2)),
        c(m * of_c.stride, untouched) {}

  void run(const matmul_options& options = {}) {
    matmul(std::span<const T>(a), of_a, std::span<const T>(b), of_b, std::span<T>(c), of_c, options);
  }
  /// Every `step`-th element; a step that does not divide the width visits all columns.
  void expect_chains(const std::string& what, std::uint64_t step = 1) const {
    for (std::uint64_t e = 0; e < of_c.rows * of_c.columns; e += step) {
      const std::uint64_t i = e / of_c.columns, j = e % of_c.columns;
      ASSERT_EQ(bits(c[i * of_c.stride + j]), bits(chain(a, of_a, b, of_b, i, j))) << what << ": " << i << ", " << j;
    }
  }
  void expect_gaps_untouched() const {
    for (std::uint64_t i = 0; i < of_c.rows; ++i)
      for (std::uint64_t j = of_c.columns; j < of_c.stride; ++j) ASSERT_EQ(c[i * of_c.stride + j], untouched);
  }

  static constexpr T untouched = 42;
};

template <class T>
class Matmul : public testing::Test {};
using types = testing::Types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Matmul, types);

TYPED_TEST(Matmul, EveryElementIsOneChain) {
  for (const char* variant : {"packed", "blocked"})
    for (auto level : backend::cpu::instruction_sets()) {
      product<TypeParam> p(256, 256, 256);
      const std::string name(name_of(level));
      p.run({.device = open("cpu", {.threads = 2, .instruction_set = name}), .variant = variant});
      p.expect_chains(variant + name, 7);
    }
}

TYPED_TEST(Matmul, LargeSquaresTakeSeveralBlocks) {
  for (std::uint64_t n : {512u, 1024u}) {
    product<TypeParam> p(n, n, n);
    p.run();
    p.expect_chains(std::to_string(n), n + 1);
  }
}

TYPED_TEST(Matmul, RectanglesOfAnyForm) {
  struct form {
    std::uint64_t m, n, k;
  };
  // The last two are larger than the parts of C that share packed panels.
  for (form f : {form{1, 1, 9000},
                 {1, 700, 300},
                 {700, 1, 300},
                 {13, 1000, 2},
                 {1000, 33, 3},
                 {100, 90, 1500},
                 {4100, 5, 7},
                 {5, 4100, 7}})
    for (const char* variant : {"packed", "blocked"}) {
      product<TypeParam> p(f.m, f.n, f.k);
      p.run({.variant = variant});
      p.expect_chains(std::to_string(f.m) + " " + std::to_string(f.n) + " " + std::to_string(f.k));
    }
}

TYPED_TEST(Matmul, RowsApartFromEachOther) {
  for (const char* variant : {"packed", "blocked"}) {
    product<TypeParam> p(70, 61, 300, 5);
    p.run({.variant = variant});
    p.expect_chains(variant);
    p.expect_gaps_untouched();
  }
}

TYPED_TEST(Matmul, WithoutProductsAllIsZero) {
  for (const char* variant : {"packed", "blocked"}) {
    product<TypeParam> p(19, 35, 0, 3);
    p.run({.variant = variant});
    for (std::uint64_t i = 0; i < 19; ++i)
      for (std::uint64_t j = 0; j < 35; ++j) ASSERT_EQ(bits(p.c[i * p.of_c.stride + j]), 0u);
    p.expect_gaps_untouched();
  }
}

TYPED_TEST(Matmul, WithoutElementsNothingHappens) {
  for (auto [m, n] : {std::pair{0u, 5u}, {5u, 0u}, {0u, 0u}}) {
    product<TypeParam> p(m, n, 7);
    p.c.assign(8, p.untouched);
    p.run();
    for (TypeParam value : p.c) EXPECT_EQ(value, p.untouched);
  }
}

TYPED_TEST(Matmul, IdentityChangesNothing) {
  const std::uint64_t n = 150;
  product<TypeParam> p(n, n, n);
  for (std::uint64_t i = 0; i < n * n; ++i) p.b[i] = i % (n + 1) == 0;
  p.run();
  EXPECT_EQ(p.c, p.a);
  std::swap(p.a, p.b);
  p.c.assign(n * n, p.untouched);
  p.run();
  EXPECT_EQ(p.c, p.b);
}

/// A = [1 a_i], B = [c_j; b_j]: every element is fma(a_i, b_j, c_j), with infinities, NaNs and denormals among them.
TYPED_TEST(Matmul, SpecialValues) {
  const auto special = tests::special_values<TypeParam>();
  const std::uint64_t n = special.size();
  for (std::uint64_t shift = 0; shift < n; ++shift)
    for (const char* variant : {"packed", "blocked"}) {
      product<TypeParam> p(n, n, 2);
      for (std::uint64_t i = 0; i < n; ++i) {
        p.a[2 * i] = 1;
        p.a[2 * i + 1] = p.b[n + i] = special[i];
        p.b[i] = special[(i + shift) % n];
      }
      p.run({.variant = variant});
      p.expect_chains(variant);
    }
}

TYPED_TEST(Matmul, ArraysOnADevice) {
  const device cpu = open("cpu");
  product<TypeParam> p(90, 110, 130, 4);
  const auto a = cpu.upload(p.a), b = cpu.upload(p.b);
  auto c = cpu.upload(p.c);
  matmul(a, p.of_a, b, p.of_b, c, p.of_c);
  p.c = c.download();
  p.expect_chains("array");
  p.expect_gaps_untouched();
}

/// Fewer rows than ranks, fewer columns, grids of each form; and rows apart from each other.
TYPED_TEST(Matmul, AGroupGivesTheBitsOfOneDevice) {
  struct form {
    std::uint64_t m, n, k, gap;
  };
  for (const char* name : {"1*cpu:serial", "3*cpu:serial", "4*cpu:serial", "8*cpu:serial"})
    for (form f : {form{1, 700, 30, 0},
                   {700, 1, 30, 0},
                   {2, 3, 400, 0},
                   {90, 110, 130, 0},
                   {300, 310, 5, 0},
                   {70, 61, 100, 5},
                   {3, 200, 50, 1},
                   {19, 35, 0, 3}}) {
      product<TypeParam> p(f.m, f.n, f.k, f.gap);
      p.run({.device = open(name)});
      p.expect_chains(name, 7);
      p.expect_gaps_untouched();
    }
}

/// Their parts begin and end within rows of the matrices, or behind the last one.
TYPED_TEST(Matmul, ArraysOnAGroup) {
  for (const char* name : {"2*cpu:serial", "3*cpu:serial", "8*cpu:serial"})
    for (const std::uint64_t beyond : {0u, 1u, 9000u}) {
      const device group = open(name);
      product<TypeParam> p(45, 55, 65, 4);
      const std::uint64_t elements = p.c.size();
      for (auto* values : {&p.a, &p.b, &p.c}) values->resize(values->size() + beyond, p.untouched);
      const auto a = group.upload(p.a), b = group.upload(p.b);
      auto c = group.upload(p.c);
      matmul(a, p.of_a, b, p.of_b, c, p.of_c);
      p.c = c.download();
      for (std::uint64_t i = elements; i < p.c.size(); ++i) ASSERT_EQ(p.c[i], p.untouched);
      p.expect_chains(name);
      p.expect_gaps_untouched();
    }
}

TEST(MatmulSpecial, ANaNIsTheCanonicalOne) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float payload = std::bit_cast<float>(0xffc12345u);
  const std::vector<float> a{infinity, -infinity, payload, 1.0f}, b{1.0f, 1.0f, 0.0f, 0.0f};
  std::vector<float> c(4);
  matmul(a, {2, 2}, b, {2, 2}, c, {2, 2});
  for (float value : c) EXPECT_EQ(bits(value), 0x7fc00000u);
}

TEST(MatmulSpecial, ProductsAreFused) {
  const float epsilon = std::numeric_limits<float>::epsilon(), x = 1 + epsilon;
  const std::vector<float> a{-(x * x), x}, b{1.0f, x};
  float c = 42;
  matmul(a, {1, 2}, b, {2, 1}, std::span(&c, 1), {1, 1});
  EXPECT_EQ(c, epsilon * epsilon);  // x * x rounded by itself would leave nothing
}

TEST(MatmulSpecial, TheChainStartsAtPlusZero) {
  const std::vector<float> a{-1.0f}, b{0.0f};
  float c = 42;
  matmul(a, {1, 1}, b, {1, 1}, std::span(&c, 1), {1, 1});
  EXPECT_EQ(bits(c), 0u);
}

/// What a row of the product is does not depend on how many others are computed with it, nor on where.
TEST(MatmulSpecial, AnyRowsOfAGiveTheirRowsOfTheProduct) {
  constexpr std::uint64_t rows = 150, columns = 130, inner = 301;
  product<float> whole(rows, columns, inner);
  whole.run({.device = open("cpu:serial")});
  std::vector<device> all = devices();
  all.push_back(open("3*cpu:serial"));
  for (const device& on : all)
    for (const auto& [first, count] : {std::pair{0u, 1u}, {149u, 1u}, {7u, 2u}, {3u, 13u}, {50u, 64u}, {1u, 149u}}) {
      if (on.info().backend == "openacc") continue;  // which has no product
      const std::span<const float> some = std::span<const float>(whole.a).subspan(first * inner, count * inner);
      std::vector<float> c(count * columns);
      matmul(some, {count, inner}, whole.b, {inner, columns}, c, {count, columns}, {.device = on});
      for (std::uint64_t i = 0; i < c.size(); ++i)
        ASSERT_EQ(bits(c[i]), bits(whole.c[first * columns + i]))
            << on.name() << ": " << count << " rows from " << first;
    }
}

/// A faulty call with floats, which must leave C as it is.
class MatmulErrors : public testing::Test {
 protected:
  std::string message(matrix_layout of_a, matrix_layout of_b, matrix_layout of_c) {
    const std::string text = message_of(errc::invalid_argument, [&] {
      matmul(std::span<const float>(a_), of_a, std::span<const float>(b_), of_b, std::span<float>(c_), of_c);
    });
    EXPECT_EQ(c_, std::vector<float>(12, 42.0f));
    return text;
  }
  static void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  }

  std::vector<float> a_ = random_values<float>(12, 1), b_ = random_values<float>(12, 2),
                     c_ = std::vector<float>(12, 42.0f);
};

TEST_F(MatmulErrors, ShapesThatDoNotFitAreNamed) {
  expect_words(message({3, 4}, {3, 4}, {3, 4}), {"A is 3x4", "B is 3x4"});
  expect_words(message({3, 4}, {4, 3}, {3, 4}), {"C is 3x4", "3x3"});
  expect_words(message({3, 4}, {4, 3}, {4, 3}), {"C is 4x3", "3x3"});
}

TEST_F(MatmulErrors, StridesTooShort) {
  expect_words(message({3, 4, 3}, {4, 3}, {3, 3}), {"A is 3x4", "at least 4"});
  expect_words(message({3, 4}, {4, 3, 0}, {3, 3}), {"B is 4x3", "at least 3"});
  expect_words(message({3, 4}, {4, 3}, {3, 3, 2}), {"C is 3x3", "at least 3"});
}

TEST_F(MatmulErrors, SpansTooShort) {
  expect_words(message({4, 4}, {4, 3}, {4, 3}), {"A", "4x4", "16", "12"});
  expect_words(message({3, 4}, {4, 4}, {3, 4}), {"B", "4x4", "16", "12"});
  expect_words(message({3, 4}, {4, 3}, {3, 3, 6}), {"C", "3x3", "15", "12"});
}

TEST_F(MatmulErrors, SizesThatOverflow) {
  const std::uint64_t huge = std::uint64_t{1} << 33;
  expect_words(message({huge, huge}, {huge, 1}, {huge, 1}), {"A is 8589934592x8589934592"});
  expect_words(message({1, huge}, {huge, huge}, {1, huge}), {"B is 8589934592x8589934592"});
  expect_words(message({huge, 1}, {1, huge}, {huge, huge}), {"C is 8589934592x8589934592"});
  expect_words(message({2, 1, ~std::uint64_t{0}}, {1, 1}, {2, 1}), {"A is 2x1"});
}

TEST_F(MatmulErrors, OverlapOfTheResultWithAnOperand) {
  std::vector<float> memory = random_values<float>(40, 3);
  const std::vector<float> before = memory;
  const std::span<float> all(memory);
  const matrix_layout square(4, 4);
  for (std::size_t first : {0u, 15u, 16u, 24u}) {
    const std::string text = message_of(errc::invalid_argument, [&] {
      const std::span<const float> a(all.subspan(0, 16)), b(all.subspan(16, 16));
      matmul(a, square, b, square, all.subspan(first, 16), square);
    });
    expect_words(text, {"C shares memory with", first < 16 ? "A" : "B"});
  }
  EXPECT_EQ(memory, before);

  auto array = open("cpu").upload(before);
  const auto other = open("cpu").upload(before);
  EXPECT_EQ(code_of([&] { matmul(array, square, other, square, array, square); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { matmul(other, square, array, square, array, square); }), errc::invalid_argument);
  EXPECT_EQ(array.download(), before);
}

}  // namespace
}  // namespace tilewise
