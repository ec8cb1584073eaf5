// SPDX-License-Identifier: Apache-2.0
// What only polymul must satisfy; the bits of every variant are checked from the catalog.
#include "helpers.hpp"

#include "polymul/problem.hpp"

#include <tilewise/tilewise.hpp>

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::message_of;

__extension__ using wide = __int128;
__extension__ using uwide = unsigned __int128;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();

constexpr std::array cpu_variants{"ntt", "karatsuba", "naive"};

/// By the schoolbook method in 128 bits, which hold any product tried here.
template <class T>
std::vector<wide> exact(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<wide> c(a.empty() || b.empty() ? 0 : a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) c[i + j] += wide{a[i]} * b[j];
  return c;
}

bool fits(const std::vector<wide>& c) {
  return std::all_of(c.begin(), c.end(), [](wide v) { return v >= least && v <= most; });
}

std::vector<std::int64_t> narrowed(const std::vector<wide>& c) { return {c.begin(), c.end()}; }

std::vector<std::int64_t> residues(const std::vector<wide>& c, std::uint64_t modulus) {
  std::vector<std::int64_t> r;
  for (wide v : c) r.push_back(static_cast<std::int64_t>((v % modulus + modulus) % modulus));
  return r;
}

/// Random coefficients of every magnitude: those of one polynomial have up to the same number of bits, some at the
/// limits.
template <class T>
std::vector<T> random_coefficients(std::mt19937_64& random, std::size_t count, unsigned bits) {
  std::vector<T> values(count);
  const auto end = static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1);
  const unsigned kind = static_cast<unsigned>(random() % 5);
  for (std::size_t i = 0; i < count; ++i) {
    const auto any = static_cast<std::int64_t>(random() >> (63 - bits)) - end;
    const std::int64_t alternating = i % 2 == 0 ? end : -end;
    const std::int64_t sparse = random() % 16 == 0 ? any : 0;
    values[i] = static_cast<T>(kind == 0 ? end : kind == 1 ? alternating : kind == 2 ? sparse : any);
  }
  return values;
}

/// What the library says of a product: its coefficients, or nothing where it throws `overflow`.
template <class T>
std::optional<std::vector<std::int64_t>> product(const std::vector<T>& a, const std::vector<T>& b,
                                                 const polymul_options& options) {
  try {
    return polymul(a, b, options);
  } catch (const error& e) {
    if (e.code() != errc::overflow) throw;
    return std::nullopt;
  }
}

template <class T>
void expect_exact(const std::vector<T>& a, const std::vector<T>& b, const polymul_options& options) {
  const std::vector<wide> c = exact(a, b);
  const auto got = product(a, b, options);
  ASSERT_EQ(got.has_value(), fits(c)) << a.size() << "x" << b.size();
  if (got) {
    ASSERT_EQ(*got, narrowed(c)) << a.size() << "x" << b.size() << " " << options.variant;
  }
}

/// `methods` alternate.
template <class T>
void try_random_products(std::span<const polymul_options> methods, unsigned count, unsigned most_bits, unsigned seed) {
  std::mt19937_64 random(seed);
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t n = 1 + random() % 24, m = 1 + random() % 24;
    const auto a = random_coefficients<T>(random, n, 1 + static_cast<unsigned>(random() % most_bits));
    const auto b = random_coefficients<T>(random, m, 1 + static_cast<unsigned>(random() % most_bits));
    expect_exact(a, b, methods[i % methods.size()]);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void try_all_random_products(std::span<const polymul_options> methods) {
  const unsigned count = tests::test_cover() == tests::cover::all ? 50'000 : 2'500;
  try_random_products<std::int32_t>(methods, count, 31, 1);
  try_random_products<std::int64_t>(methods, count, 58, 2);  // 128 bits hold these
}

TEST(Polymul, RandomProductsAreExactOrRefused) {
  std::vector<polymul_options> methods;
  for (const char* variant : cpu_variants) methods.push_back({.variant = variant});
  try_all_random_products(methods);
}

TEST(Polymul, RandomProductsAreExactOrRefusedOnGroups) {
  const device ranks = open("3*cpu:serial");
  std::vector<polymul_options> methods;
  for (const char* variant : {"group:ntt", "group:karatsuba", "group:naive"})
    methods.push_back({.device = ranks, .variant = variant});
  try_random_products<std::int32_t>(methods, 300, 31, 11);
  try_random_products<std::int64_t>(methods, 300, 58, 12);
}

TEST(Polymul, AGroupRefusesWhatOverflowsWhereItLies) {
  const device ranks = open("3*cpu:serial");
  const array<std::int64_t> large = ranks.upload(std::vector<std::int64_t>{most, 0, 0, 1, 0, 0, 0, 2, 0});
  const array<std::int64_t> two = ranks.upload(std::vector<std::int64_t>{1, 0, 0, 0, 0, 0, 0, 0, 2});
  array<std::int64_t> product = ranks.allocate<std::int64_t>(17);
  const std::string message = message_of(errc::overflow, [&] { polymul(large, two, product); });
  EXPECT_NE(message.find("coefficient 8 "), std::string::npos) << message;
  const array<std::int64_t> fits = ranks.upload(std::vector<std::int64_t>{most, 0, 0, 1, 0, 0, 0, 2, 0});
  const array<std::int64_t> one = ranks.upload(std::vector<std::int64_t>{1, 0, 0, 0, 0, 0, 0, 0, 1});
  polymul(fits, one, product);
  EXPECT_EQ(product.download(), (std::vector<std::int64_t>{most, 0, 0, 1, 0, 0, 0, 2, most, 0, 0, 1, 0, 0, 0, 2, 0}));
}

TEST(Polymul, TheWorkOfARangeIsCounted) {
  for (std::uint64_t n = 0; n < 12; ++n)
    for (std::uint64_t m = 0; m < 12; ++m) {
      const impl::polymul::sizes s({.shape = {n, m}});
      std::uint64_t all = 0;
      for (std::uint64_t k = 0; k <= s.product(); ++k) {
        EXPECT_EQ(static_cast<std::uint64_t>(s.work_below(k)), all) << n << "x" << m << " " << k;
        for (std::uint64_t i = 0; i < n; ++i) all += i <= k && k - i < m ? 1 : 0;
      }
    }
}

// Each variant by itself: there is time for that on a GPU. On a CPU, OpenCL's launches would take minutes.
TEST(Polymul, RandomProductsAreExactOrRefusedOnGpus) {
  for (const device& on : tests::devices_with("polymul"))
    for (const registry::variant* v : registry::variants_of(registry::find_algorithm("polymul"))) {
      if (on.info().is_cpu || v->peer || v->device_backend() != on.info().backend) continue;
      SCOPED_TRACE(v->id());
      const polymul_options only{.device = on, .variant = v->name};
      try_all_random_products(std::span(&only, 1));
      if (HasFatalFailure()) return;
    }
}

// From 2^22 coefficients on, transforms on CUDA take as many primes as the magnitudes need; at 2^56 they need one more.
TEST(Polymul, LongProductsOfAnyMagnitudeOnGpusAreThoseOfTheCpu) {
  constexpr std::uint64_t n = 1 << 21;
  constexpr std::array<std::array<std::int64_t, 2>, 4> magnitudes{
      {{0, 7}, {1 << 17, -(1 << 18)}, {(1 << 17) + 1, -(1 << 18)}, {1 << 20, -(1 << 20)}}};
  for (const device& on : tests::devices_with("polymul")) {
    if (on.info().is_cpu) continue;
    for (const auto& [of_a, of_b] : magnitudes) {
      SCOPED_TRACE(on.info().name + " " + std::to_string(of_a));
      std::mt19937_64 random(7);
      std::vector<std::int64_t> a(n, of_a), b(n, of_b);  // the longest sum has the largest magnitude
      for (std::size_t i = 0; i < n / 4; ++i) a[i] = static_cast<std::int64_t>(random() % 3 - 1) * (of_a / 2);
      EXPECT_EQ(polymul(a, b, {.device = on, .variant = "ntt"}), polymul(a, b, {.variant = "ntt"}));
      const std::vector<std::int32_t> c(a.begin(), a.end()), d(b.begin(), b.end());
      EXPECT_EQ(polymul(c, d, {.device = on, .variant = "ntt"}), polymul(c, d, {.variant = "ntt"}));
    }
  }
}

TEST(Polymul, OverflowIsFoundAtTheBorderItself) {
  std::mt19937_64 random(3);
  for (unsigned i = 0; i < 2000; ++i) {
    // One coefficient of the product, a[at] b[0] + a[at - 1] b[1], is `border`.
    const bool negative = i % 2 == 0;
    const wide border = (negative ? wide{least} : wide{most}) + static_cast<int>(random() % 5) - 2;
    const std::int64_t factor = 1 + static_cast<std::int64_t>(random() % 1000);
    std::vector<std::int64_t> a(2 + random() % 40);
    const std::vector<std::int64_t> b{factor, 1};
    const std::size_t at = 1 + random() % (a.size() - 1);
    a[at] = static_cast<std::int64_t>(border / factor);
    a[at - 1] = static_cast<std::int64_t>(border - wide{a[at]} * factor);
    expect_exact(a, b, {.variant = cpu_variants[i % cpu_variants.size()]});
    if (HasFatalFailure()) return;
  }
}

TEST(Polymul, ExtremeFactorsOverflowOrNot) {
  const std::vector<std::int64_t> lowest{least}, one{1}, minus_one{-1}, highest{most}, two{2};
  for (const char* variant : cpu_variants) {
    const polymul_options options{.variant = variant};
    expect_exact(lowest, one, options);
    expect_exact(lowest, minus_one, options);
    expect_exact(highest, minus_one, options);
    expect_exact(highest, two, options);
    expect_exact(std::vector<std::int64_t>{1ll << 32, 1}, std::vector<std::int64_t>{1ll << 32, 5}, options);
  }
  // 2^64 and 2^128 are 0 modulo 2^64: a product that wraps looks right.
  const std::vector<std::int64_t> large(7, 1ll << 62);
  EXPECT_FALSE(product(large, large, {}).has_value());
  // 2^64 (2^61 - 1) is 0 modulo the first of the proof's moduli, too.
  EXPECT_FALSE(product(std::vector{std::int64_t{1} << 62}, std::vector{most - 3}, {}).has_value());
}

TEST(Polymul, AnOverflowLeavesTheOutputAndSaysWhatHelps) {
  const std::vector<std::int64_t> a(3, most), b(3, most);
  std::vector<std::int64_t> c(5, 7);
  const std::string message = message_of(errc::overflow, [&] { polymul(a, b, c); });
  EXPECT_NE(message.find("coefficient 0"), std::string::npos) << message;
  EXPECT_NE(message.find("modulus"), std::string::npos) << message;
  EXPECT_EQ(c, std::vector<std::int64_t>(5, 7));
  const std::vector<std::int64_t> at_three{0, 0, 0, most}, two{2};
  const std::string of_three = message_of(errc::overflow, [&] { polymul(at_three, two); });
  EXPECT_NE(of_three.find("coefficient 3 "), std::string::npos) << of_three;
}

TEST(Polymul, AModulusMakesAnythingFit) {
  std::mt19937_64 random(4);
  for (unsigned i = 0; i < 20'000; ++i) {
    const std::uint64_t modulus = 1 + random() % (std::uint64_t{1} << (1 + random() % 62));
    const auto a = random_coefficients<std::int64_t>(random, 1 + random() % 20, 58);
    const auto b = random_coefficients<std::int64_t>(random, 1 + random() % 20, 58);
    ASSERT_EQ(polymul(a, b, {.modulus = modulus}), residues(exact(a, b), modulus)) << modulus;
  }
  const std::vector<std::int64_t> ends{least, most, least, most};
  for (const std::uint64_t modulus : {std::uint64_t{1}, std::uint64_t{2}, (std::uint64_t{1} << 63) - 1})
    EXPECT_EQ(polymul(ends, std::vector<std::int64_t>{1}, {.modulus = modulus}),
              residues(exact(ends, std::vector<std::int64_t>{1}), modulus));
}

/// Values at a point, which reveal a wrong product but for a chance of 1 in 10^14: a(x) b(x) = c(x) modulo a prime.
std::uint64_t value_at(const auto& coefficients, std::uint64_t x) {
  constexpr std::uint64_t prime = 2'305'843'009'213'693'951;  // 2^61 - 1
  std::uint64_t sum = 0;
  for (std::size_t i = coefficients.size(); i-- != 0;) {
    const std::int64_t r = coefficients[i] % static_cast<std::int64_t>(prime);
    const auto residue = static_cast<std::uint64_t>(r < 0 ? r + static_cast<std::int64_t>(prime) : r);
    sum = static_cast<std::uint64_t>((uwide{sum} * x + residue) % prime);
  }
  return sum;
}

TEST(Polymul, LargeProductsHaveTheRightValueEverywhere) {
  std::mt19937_64 random(5);
  for (const auto& [n, m] : {std::pair<std::size_t, std::size_t>{70'001, 70'000},
                             {300'000, 17},
                             {131'072, 131'073},
                             {262'144, 262'144},
                             {1, 500'000}}) {
    const auto a = random_coefficients<std::int32_t>(random, n, 21),
               b = random_coefficients<std::int32_t>(random, m, 22);
    const std::vector<std::int64_t> c = polymul(a, b);
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t x = random() >> 3;
      const auto expected =
          static_cast<std::uint64_t>(static_cast<uwide>(value_at(a, x)) * value_at(b, x) % 2'305'843'009'213'693'951);
      EXPECT_EQ(value_at(c, x), expected) << n << "x" << m;
    }
    if (std::min(n, m) < 100'000) {
      EXPECT_EQ(polymul(a, b, {.variant = "karatsuba"}), c) << n << "x" << m;
    }
  }
}

TEST(Polymul, TheDocumentsExampleBeginsAsItSays) {
  std::vector<std::int32_t> a(4096), b(4096);
  for (int i = 0; i < 4096; ++i) a[i] = i % 10 + 1, b[i] = i % 5 + 2;
  const std::vector<std::int64_t> c = polymul(a, b);
  EXPECT_EQ(std::vector<std::int64_t>(c.begin(), c.begin() + 5), (std::vector<std::int64_t>{2, 7, 16, 30, 50}));
}

TEST(Polymul, AChainOfFloatsIsFusedAndAscending) {
  const float nearly = 1.0f + 0x1p-12f;
  EXPECT_EQ(polymul(std::vector<float>{nearly, -1.0f}, std::vector<float>{1.0f + 0x1p-11f, nearly})[1],
            std::fma(-1.0f, 1.0f + 0x1p-11f, nearly * nearly));
  EXPECT_EQ(polymul(std::vector<float>{1e8f, 1.0f, -1e8f}, std::vector<float>(3, 1.0f))[2], 0.0f);  // (1e8 + 1) - 1e8
}

TEST(Polymul, ProductsThatAreNotThereMakeNoNan) {
  const float infinite = std::numeric_limits<float>::infinity();
  for (std::size_t n : {1u, 2u, 9u, 40u, 200u}) {
    std::vector<float> a(n, 1.0f);
    a[0] = infinite;
    const std::vector<float> c = polymul(a, std::vector<float>{1.0f, 2.0f});
    for (float value : c) EXPECT_EQ(value, value) << n;
  }
}

TEST(Polymul, AnEmptyFactorGivesAnEmptyProduct) {
  const std::vector<std::int32_t> none, some{1, 2, 3};
  EXPECT_TRUE(polymul(none, some).empty());
  EXPECT_TRUE(polymul(some, none).empty());
  EXPECT_TRUE(polymul(none, none, {.modulus = 7}).empty());
  EXPECT_TRUE(polymul(std::vector<double>{}, std::vector<double>{1.0}).empty());
}

TEST(Polymul, ArraysGiveTheBitsOfHostData) {
  std::mt19937_64 random(6);
  const auto a = random_coefficients<std::int32_t>(random, 1234, 20),
             b = random_coefficients<std::int32_t>(random, 777, 20);
  for (const device& on : tests::devices_with("polymul")) {
    const array<std::int32_t> x = on.upload(a), y = on.upload(b);
    array<std::int64_t> c = on.allocate<std::int64_t>(a.size() + b.size() - 1);
    polymul(x, y, c);
    EXPECT_EQ(c.download(), polymul(a, b)) << on.name();
    polymul(x, y, c, {.modulus = 1'000'003});
    EXPECT_EQ(c.download(), polymul(a, b, {.modulus = 1'000'003})) << on.name();
    const array<std::int64_t> large = on.upload(std::vector<std::int64_t>(9, most));
    array<std::int64_t> square = on.allocate<std::int64_t>(17);
    message_of(errc::overflow, [&] { polymul(large, large, square); });
    for (const std::int64_t end : {least, most}) {
      const array<std::int64_t> one_sided = on.upload(std::vector<std::int64_t>{0, end, 0}),
                                two = on.upload(std::vector<std::int64_t>{0, 2});
      message_of(errc::overflow, [&] { polymul(one_sided, two); });
    }
  }
}

TEST(Polymul, WhatMakesNoSenseIsRefusedWithWhatItIs) {
  const std::vector<std::int32_t> a(4, 1), b(3, 1);
  std::vector<std::int64_t> c(6, 9);
  const auto refused = [&](std::initializer_list<const char*> expected, const auto& call) {
    const std::string message = message_of(errc::invalid_argument, call);
    for (const char* words : expected) EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_EQ(c, std::vector<std::int64_t>(6, 9));
  };
  refused({"4 and 3", "5", "6"}, [&] { polymul(a, b, std::span(c).first(5)); });
  refused({"modulus is 0"}, [&] { polymul(a, b, c, {.modulus = 0}); });
  refused({"9223372036854775808"}, [&] { polymul(a, b, c, {.modulus = std::uint64_t{1} << 63}); });
  refused({"f32", "modulus"}, [&] { polymul(std::vector<float>{1}, std::vector<float>{1}, {.modulus = 5}); });
  refused({"a", "c"}, [&] { polymul(std::span(c).first(2), std::span(c).subspan(4, 2), std::span(c).first(3)); });
  refused({"no_such"}, [&] { polymul(a, b, c, {.variant = "no_such"}); });
}

}  // namespace
}  // namespace tilewise
