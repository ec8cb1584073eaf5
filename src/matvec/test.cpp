// SPDX-License-Identifier: Apache-2.0
// What only matvec and dot must satisfy; the bits of every variant are checked from the catalog.
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <limits>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::message_of;
using tests::wide_floats;

std::uint32_t bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  for (float value : values) result.push_back(bits(value));
  return result;
}

std::span<const float> row_of(const std::vector<float>& a, matrix_layout l, std::size_t i) {
  return std::span(a).subspan(i * l.stride, l.columns);
}

float dot_of(std::span<const float> a, std::span<const float> x) { return dot(a, x); }

/// No product and no sum is exact, so that a fused or reordered operation shows.
struct operands {
  matrix_layout layout;
  std::vector<float> a, x, y;

  explicit operands(matrix_layout l)
      : layout(l),
        a(wide_floats(l.rows == 0 ? 0 : (l.rows - 1) * l.stride + l.columns, 1)),
        x(wide_floats(l.columns, 2)),
        y(l.rows, 7.0f) {}
};

std::vector<matrix_layout> layouts() {
  return {{1, 1},     {3, 2},          {2, 3},        {17, 16},
          {40, 31},   {33, 64},        {5, 1000},     {1000, 5},
          {64, 8192}, {1, 300'001},    {3, 200'003},  {70'000, 3},
          {9, 5, 8},  {31, 7, 9},      {4, 513, 600}, {2, 150'000, 150'016},
          {40, 1024}, {37, 1337, 1536}};
}

TEST(Matvec, EachResultIsTheDotProductOfItsRow) {
  for (const matrix_layout& l : layouts()) {
    operands o(l);
    matvec(o.a, l, o.x, o.y);
    for (std::size_t i = 0; i < l.rows; i += l.rows / 50 + 1)
      EXPECT_EQ(bits(o.y[i]), bits(dot_of(row_of(o.a, l, i), o.x))) << l.rows << "x" << l.columns << " row " << i;
  }
}

TEST(Matvec, ADotProductIsTheReductionOfTheRoundedProducts) {
  for (std::size_t n : {1u, 2u, 3u, 15u, 16u, 17u, 100u, 1000u, 4096u, 4097u, 131'071u, 131'073u, 1'000'003u}) {
    const std::vector<float> x = wide_floats(n, 3), y = wide_floats(n, 4);
    std::vector<float> products(n);
    for (std::size_t i = 0; i < n; ++i) products[i] = x[i] * y[i];
    EXPECT_EQ(bits(dot_of(x, y)), bits(reduce(products))) << n;
  }
}

/// No sum of the floats is exact; products and sums of the integers wrap.
template <class T>
void check_plain_dot_products() {
  for (std::size_t n = 1; n <= 4097; n += n < 300 ? 1 : 97) {
    std::vector<T> x, y;
    for (const float v : wide_floats(n, n)) {
      const T element =
          std::is_integral_v<T> ? static_cast<T>(bits(v) * std::uint64_t{0x9e3779b97f4a7c15}) : static_cast<T>(v);
      x.push_back(element);
      y.push_back(x[x.size() / 2]);
    }
    ASSERT_EQ(dot(x, y), dot(x, y, {.variant = "serial"})) << n;
  }
}

TEST(Matvec, PlainDotProductsOfEveryTypeAndLength) {
  check_plain_dot_products<float>();
  check_plain_dot_products<double>();
  check_plain_dot_products<std::int32_t>();
  check_plain_dot_products<std::int64_t>();
  check_plain_dot_products<std::uint32_t>();
  check_plain_dot_products<std::uint64_t>();
}

TEST(Matvec, ProductsAreRoundedBeforeTheyAreAdded) {
  const float nearly = 1.0f + 0x1p-12f;  // its square needs 25 bits
  const std::vector<float> x{nearly, -1.0f}, y{nearly, 1.0f + 0x1p-11f};
  EXPECT_EQ(dot_of(x, y), 0.0f);  // fused, 2^-24 would be left
}

TEST(Matvec, NeighboursAreAddedFirst) {
  const std::vector<float> ones(4, 1.0f), x{0x1p24f, 1.0f, 1.0f, 1.0f};
  EXPECT_EQ(dot_of(x, ones), 0x1p24f + 2.0f);  // (2^24 + 1) + (1 + 1); one by one, each 1 would be lost
}

TEST(Matvec, AnEmptyRowGivesZero) {
  const std::vector<float> none;
  EXPECT_EQ(bits(dot_of(none, none)), bits(0.0f));
  std::vector<float> y(1000, 3.0f);
  matvec(none, {1000, 0}, none, y);
  EXPECT_EQ(bits(y), bits(std::vector<float>(1000, 0.0f)));
  std::vector<float> nothing;
  matvec(none, {0, 3}, std::vector<float>(3), nothing);
}

TEST(Matvec, ProductsThatAreNegativeZerosGiveOne) {
  for (std::size_t n : {1u, 3u, 16u, 31u, 100u, 5000u, 300'000u}) {
    std::vector<float> y(20, 1.0f);
    matvec(std::vector<float>(20 * n, -0.0f), {20, n}, std::vector<float>(n, 2.0f), y);
    EXPECT_EQ(bits(y), bits(std::vector<float>(20, -0.0f))) << n;
  }
  std::vector<float> y(20, 1.0f);
  matvec(std::vector<float>(20 * 1536, -0.0f), {20, 1337, 1536}, std::vector<float>(1337, 2.0f), y);
  EXPECT_EQ(bits(y), bits(std::vector<float>(20, -0.0f))) << "rows a multiple of 2048 bytes apart";
}

TEST(Matvec, EveryNanBecomesTheCanonicalOneAndStaysInItsRow) {
  for (std::size_t n : {1u, 3u, 17u, 64u, 1000u, 5000u}) {
    std::vector<float> a(20 * n, 2.0f), y(20);
    a[7 * n + n / 2] = __builtin_bit_cast(float, 0xffc12345u);
    matvec(a, {20, n}, std::vector<float>(n, 1.0f), y);
    for (std::size_t i = 0; i < 20; ++i)
      EXPECT_EQ(bits(y[i]), i == 7 ? 0x7fc00000u : bits(2.0f * static_cast<float>(n))) << n << " row " << i;
  }
}

TEST(Matvec, IntegersWrap) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(dot(std::vector{most, 2}, std::vector{2, 3}), 4);
  const std::vector<std::int64_t> big(100, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(dot(big, big), 100);
  EXPECT_EQ(dot(std::vector<std::uint64_t>(3, ~0ull), std::vector<std::uint64_t>(3, 2)), ~0ull - 5);
}

TEST(Matvec, ArraysGiveTheBitsOfHostData) {
  for (const device& on : tests::devices_with("matvec")) {
    for (const matrix_layout& l : layouts()) {
      operands o(l);
      const array<float> a = on.upload(o.a), x = on.upload(o.x);
      array<float> y = on.allocate<float>(l.rows);
      matvec(a, l, x, y);
      matvec(o.a, l, o.x, o.y);
      EXPECT_EQ(bits(y.download()), bits(o.y)) << on.name() << " " << l.rows << "x" << l.columns;
      if (l.rows == 1) {
        EXPECT_EQ(bits(dot(a, x)), bits(o.y[0])) << on.name() << " " << l.columns;
      }
    }
  }
}

/// As many rows as there are warps on half of a large GPU: there each goes whole to a team of two, four or eight warps,
/// or to one if it ends within a chunk.
TEST(Matvec, ManyLongRowsGiveTheBitsOfHostData) {
  constexpr std::size_t rows = 2200, most_columns = 8192;
  const std::vector<float> a = wide_floats(rows * most_columns, 1), x = wide_floats(most_columns, 2);
  for (const device& on : tests::devices_with("matvec")) {
    const array<float> a_there = on.upload(a);
    for (std::size_t columns : {2048u, 2056u, 8192u}) {
      const matrix_layout l{rows, columns, most_columns};
      const std::vector<float> some(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(columns));
      std::vector<float> y(rows);
      array<float> y_there = on.allocate<float>(rows);
      matvec(a_there, l, on.upload(some), y_there);
      matvec(a, l, some, y);
      EXPECT_EQ(bits(y_there.download()), bits(y)) << on.name() << " " << columns;
    }
  }
}

TEST(Matvec, AGroupGivesTheBitsOfOneDevice) {
  for (const char* name : {"1*cpu:serial", "2*cpu:serial", "3*cpu:serial", "7*cpu:serial"}) {
    const device group = open(name);
    for (const matrix_layout& l : layouts()) {
      operands o(l);
      std::vector<float> y(l.rows);
      matvec(o.a, l, o.x, o.y);
      matvec(o.a, l, o.x, y, {.device = group});
      EXPECT_EQ(bits(y), bits(o.y)) << name << " " << l.rows << "x" << l.columns;
    }
  }
}

TEST(Matvec, ArraysOnAGroupMayBeLongerThanTheMatrix) {
  const device group = open("5*cpu:serial");
  for (const matrix_layout& l : layouts()) {
    operands o(l);
    matvec(o.a, l, o.x, o.y);
    o.a.resize(o.a.size() * 3 / 2 + 1);
    array<float> y = group.allocate<float>(l.rows);
    matvec(group.upload(o.a), l, group.upload(o.x), y);
    EXPECT_EQ(bits(y.download()), bits(o.y)) << l.rows << "x" << l.columns;
  }
}

/// `call` is refused with `expected` in the message, and nothing is written.
template <class Call>
void expect_refused(const operands& o, std::initializer_list<const char*> expected, const Call& call) {
  const std::vector<float> before = o.y;
  const std::string message = message_of(errc::invalid_argument, call);
  for (const char* words : expected) EXPECT_NE(message.find(words), std::string::npos) << message;
  EXPECT_EQ(o.y, before);
}

TEST(Matvec, OperandsThatDoNotFitAreRefusedWithTheirShapes) {
  operands o({4, 6});
  const std::vector<float> five(5);
  expect_refused(o, {"4x6", "5 elements"}, [&] { matvec(o.a, {4, 6}, five, o.y); });
  expect_refused(o, {"3x6", "4 elements"}, [&] { matvec(o.a, {3, 6}, o.x, o.y); });
  expect_refused(o, {"4x6", "5"}, [&] { matvec(o.a, {4, 6, 5}, o.x, o.y); });
  expect_refused(o, {"4x6", "0"}, [&] { matvec(o.a, {4, 6, 0}, o.x, o.y); });
  expect_refused(o, {"4x6", "7", "24"}, [&] { matvec(o.a, {4, 6, 7}, o.x, o.y); });
  expect_refused(o, {"6", "5"}, [&] { dot(o.x, five); });
  expect_refused(o, {"no_such"}, [&] { matvec(o.a, {4, 6}, o.x, o.y, {.variant = "no_such"}); });
}

TEST(Matvec, TheResultOverlapsNoOperand) {
  operands o({4, 4});
  std::vector<float> all(40, 1.0f);
  const std::vector<float> before = all;
  const std::span<float> s(all);
  expect_refused(o, {"A", "y"}, [&] { matvec(s.first(16), {4, 4}, o.x, s.subspan(15, 4)); });
  expect_refused(o, {"x", "y"}, [&] { matvec(o.a, {4, 4}, s.first(4), s.subspan(3, 4)); });
  EXPECT_EQ(all, before);
}

}  // namespace
}  // namespace tilewise
