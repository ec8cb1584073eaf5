// SPDX-License-Identifier: Apache-2.0
// Every form of a call uses the operation, the initial value, the axis and the border that it gets.
#include <tilewise/tilewise.hpp>

#include <array>
#include <bit>
#include <limits>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace tw = tilewise;  // std has functions of the same names

namespace {

/// Tests output into each kind of memory, and returned results: `into` takes an input and an output, `returned` only an
/// input.
template <class Into, class Returned>
void expect_in_every_form(const std::vector<float>& x, const std::vector<float>& expected, const Into& into,
                          const Returned& returned) {
  const device on = open("cpu");
  std::vector<float> span_to(expected.size()), to(expected.size());
  array<float> there_to = on.upload(to);
  into(std::span<const float>(x), std::span<float>(span_to));
  into(x, to);
  into(on.upload(x), there_to);
  EXPECT_EQ(span_to, expected);
  EXPECT_EQ(to, expected);
  EXPECT_EQ(there_to.download(), expected);
  EXPECT_EQ(returned(x), expected);
  EXPECT_EQ(returned(on.upload(x)).download(), expected);
}

const std::vector<float> small{3, 1, 4, 1, 5, 9};
constexpr matrix_layout two_rows(2, 3);
const scan_options from_100{.init = 100.0f};

}  // namespace

TEST(CallValues, ReductionsHaveTheirOperationAndTheirFirstValue) {
  const array<float> there = open("cpu").upload(small);
  EXPECT_EQ(tw::reduce(small, {.init = 100.0f}), 123.0f);
  EXPECT_EQ(tw::reduce(there, {.init = 100.0f}), 123.0f);
  EXPECT_EQ(tw::reduce(there, {.op = op::max}), 9.0f);
  EXPECT_EQ(tw::reduce(there, {.op = op::product, .init = 100.0f}), 54'000.0f);
  for (const auto& push :
       {+[](partial<float>& p) { p.push(small); }, +[](partial<float>& p) { p.push(open("cpu").upload(small)); }}) {
    partial<float> largest(op::max);
    push(largest);
    EXPECT_EQ(largest.value(), 9.0f);
  }
}

TEST(CallValues, LinesHaveTheirAxis) {
  const std::vector<float> sums[]{{4, 6, 13}, {8, 15}}, sorted[]{{1, 1, 4, 3, 5, 9}, {1, 3, 4, 1, 5, 9}};
  for (const axis to : {axis::columns, axis::rows}) {
    std::vector<float> from_hundred = sums[static_cast<int>(to)];
    for (float& sum : from_hundred) sum += 100;
    expect_in_every_form(
        small, sums[static_cast<int>(to)],
        [&](const auto& in, auto&& out) { tw::reduce(along(in, two_rows, to), out); },
        [&](const auto& in) { return tw::reduce(along(in, two_rows, to)); });
    std::vector<float> out(from_hundred.size());
    array<float> there = open("cpu").upload(out);
    tw::reduce(along(small, two_rows, to), out, {.init = 100.0f});
    tw::reduce(along(open("cpu").upload(small), two_rows, to), there, {.init = 100.0f});
    EXPECT_EQ(out, from_hundred);
    EXPECT_EQ(there.download(), from_hundred);
    expect_in_every_form(
        small, sorted[static_cast<int>(to)],
        [&](const auto& in, auto&& y) { tw::sort(along(in, two_rows, to), along(y, two_rows, to)); },
        [&](const auto& in) { return tw::sorted(along(in, two_rows, to)); });
  }
}

TEST(CallValues, ScansHaveTheirAxisAndTheirFirstValue) {
  const auto expect_scans = [](const auto& scan, const auto& expected) {
    for (const axis to : {axis::columns, axis::rows})
      expect_in_every_form(
          small, expected[static_cast<int>(to)],
          [&](const auto& in, auto&& out) { scan(along(in, two_rows, to), along(out, two_rows, to), from_100); },
          [&](const auto& in) { return scan(along(in, two_rows, to), from_100); });
  };
  using of_each_axis = std::array<std::vector<float>, 2>;
  expect_scans([](auto&&... all) { return tw::inclusive_scan(all...); },
               of_each_axis{{{103, 101, 104, 104, 106, 113}, {103, 104, 108, 101, 106, 115}}});
  expect_scans([](auto&&... all) { return tw::exclusive_scan(all...); },
               of_each_axis{{{100, 100, 100, 103, 101, 104}, {100, 103, 104, 100, 101, 106}}});
}

/// The same expectation for a whole array, and, higher by 7, for a part that follows a 7.
TEST(CallValues, ScansHaveTheirFirstValueAndWhatPrecedesThem) {
  const auto expect_scans = [](const auto& scan, std::vector<float> expected) {
    expect_in_every_form(
        small, expected, [&](const auto& in, auto&& out) { scan(in, out, from_100); },
        [&](const auto& in) { return scan(in, from_100); });
    for (float& value : expected) value += 7;
    partial<float> seven;
    seven.push(7.0f);
    partial<float> carry;
    const scan_options continued{.init = 100.0f, .carry = &carry};
    expect_in_every_form(
        small, expected, [&](const auto& in, auto&& out) { carry = seven, scan(in, out, continued); },
        [&](const auto& in) { return carry = seven, scan(in, continued); });
  };
  expect_scans([](auto&&... all) { return tw::inclusive_scan(all...); }, {103, 104, 108, 109, 114, 123});
  expect_scans([](auto&&... all) { return tw::exclusive_scan(all...); }, {100, 103, 104, 108, 109, 114});
}

/// Few elements are computed at once, 5000 are not.
TEST(CallValues, NumbersThatNoElementCanHoldAreRefused) {
  const auto refused = [](const auto& call) {
    try {
      call();
      ADD_FAILURE() << "it was taken";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::invalid_argument) << e.what();
    }
  };
  const auto refused_for = [&]<class T>(T one, const number& init) {
    for (const std::size_t n : {3, 5000}) {
      const std::vector<T> x(n, one);
      std::vector<T> y = x;
      refused([&] { tw::reduce(x, {.init = init}); });
      refused([&] { tw::reduce(open("cpu").upload(x), {.init = init}); });
      refused([&] { tw::reduce(along(x, {1, n}, axis::rows), {.init = init}); });
      refused([&] { tw::inclusive_scan(x, y, {.init = init}); });
      refused([&] { tw::exclusive_scan(x, y, {.init = init}); });
      EXPECT_EQ(y, x);
    }
  };
  refused_for(std::int32_t{1}, 2.7);
  refused_for(std::int32_t{1}, std::numeric_limits<double>::quiet_NaN());
  refused_for(std::uint32_t{1}, -1);
  refused_for(std::int64_t{1}, std::uint64_t{1} << 63);
  refused_for(std::int64_t{1}, 0x1p63);
  refused_for(1.0f, 1e300);
}

/// An exclusive scan begins with its initial value.
TEST(CallValues, NumbersAreRoundedToNearest) {
  for (const std::size_t n : {1, 5000}) {
    const std::vector<float> x(n, 1.0f);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(tw::exclusive_scan(x, {.init = 0.1})[0]),
              std::bit_cast<std::uint32_t>(0.1f));
  }
}

TEST(CallValues, ConvolutionsHaveTheirBorder) {
  const std::vector<float> ones(3, 1.0f);
  const array<float> ones_there = open("cpu").upload(ones);
  const auto mask_for = [&]<class Image>(const Image&) -> const auto& {
    if constexpr (requires(Image image) { image.device(); })
      return ones_there;
    else
      return ones;
  };
  const image_size image{2, 3}, mask{1, 3};
  for (const auto& [at_edges, expected] : {std::pair{border::valid, std::vector<float>{8, 15}},
                                           std::pair{border::zero, std::vector<float>{4, 8, 5, 6, 15, 14}}}) {
    const convolve_options options{.border = at_edges};
    expect_in_every_form(
        small, expected,
        [&](const auto& in, auto&& out) {
          if constexpr (requires { in.device(); })
            tw::convolve(in, image, mask_for(in), mask, out, options);
          else
            tw::convolve(in, image, std::span<const float>(ones), mask, out, options);
        },
        [&](const auto& in) { return tw::convolve(in, image, mask_for(in), mask, options); });
  }
}

/// The sizes of results for the smallest operands.
TEST(CallValues, SizesOfResults) {
  EXPECT_EQ(product_size(0, 5), 0u);
  EXPECT_EQ(product_size(5, 0), 0u);
  EXPECT_EQ(product_size(3, 4), 6u);
  EXPECT_EQ(matrix_layout(3, 0).stride, 1u) << "a stride is not 0";
  EXPECT_EQ(packed_elements({std::uint64_t{1} << 33, std::uint64_t{1} << 33}), ~std::uint64_t{0});
  EXPECT_EQ(lines_of({2, 3}, axis::rows), 2u);
  EXPECT_EQ(lines_of({2, 3}, axis::columns), 3u);
}

}  // namespace tilewise::tests
