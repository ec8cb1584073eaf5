// SPDX-License-Identifier: Apache-2.0
// Every algorithm can be called in the forms that tilewise/call.hpp lists, and all forms give the same result. This is
// a separate program that links the library as users do.
#include <tilewise/tilewise.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <ranges>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace tw = tilewise;  // std has functions of the same names

namespace {

const std::vector<float> x{1e8f, 1.0f, -1e8f, 3.5f, -2.0f, 0.25f};
const std::vector<float> y{2.0f, -1e-3f, 1e7f, 4.0f, 0.5f, -8.0f};

/// A writable part of a longer vector, as a temporary.
std::span<float> middle_of(std::vector<float>& whole) { return std::span(whole).subspan(2, 3); }

TEST(CallForms, Reductions) {
  const device on = open("cpu");
  const float sum = tw::reduce(std::span<const float>(x));
  EXPECT_EQ(tw::reduce(x), sum);
  EXPECT_EQ(tw::reduce(std::array{1e8f, 1.0f, -1e8f, 3.5f, -2.0f, 0.25f}), sum);
  EXPECT_EQ(tw::reduce(on.upload(x)), sum);
  std::vector<float> whole(x);
  EXPECT_EQ(tw::reduce(middle_of(whole), {.init = 1.0f}),
            tw::reduce(std::vector<float>(x.begin() + 2, x.begin() + 5), {.init = 1.0f}));
  EXPECT_EQ(tw::dot(x, y), tw::dot(on.upload(x), on.upload(y)));
  EXPECT_EQ(tw::dot(std::span<const float>(x), y), tw::dot(x, y));
}

TEST(CallForms, Scans) {
  const device on = open("cpu");
  std::vector<float> inclusive(x.size()), exclusive(x.size()), started(x.size());
  tw::inclusive_scan(std::span<const float>(x), std::span<float>(inclusive));
  tw::exclusive_scan(x, exclusive);
  tw::exclusive_scan(x, started, {.init = 2.0f});
  EXPECT_EQ(tw::inclusive_scan(x), inclusive);
  EXPECT_EQ(tw::exclusive_scan(x), exclusive);
  EXPECT_EQ(tw::exclusive_scan(x, {.init = 2.0f}), started);
  EXPECT_EQ(tw::inclusive_scan(x, {.init = -0.0f}), inclusive);
  const array<float> there = on.upload(x);
  EXPECT_EQ(tw::inclusive_scan(there).download(), inclusive);
  EXPECT_EQ(tw::exclusive_scan(there).download(), exclusive);
  EXPECT_EQ(tw::exclusive_scan(there, {.init = 2.0f}).download(), started);
  std::vector<float> in_place(x);
  tw::inclusive_scan(in_place, in_place);
  EXPECT_EQ(in_place, inclusive);
}

TEST(CallForms, ScansAlongAnAxis) {
  const device on = open("cpu");
  const matrix_layout l(2, 3);
  std::vector<float> inclusive(x.size()), exclusive(x.size()), to(x.size());
  tw::inclusive_scan(along(x, l, axis::rows), along(inclusive, l, axis::rows), {.init = 2.0f});
  tw::exclusive_scan(along(std::span<const float>(x), l, axis::rows), along(std::span<float>(exclusive), l, axis::rows),
                     {.init = 2.0f});
  for (const std::size_t i : {0, 1, 3, 4}) EXPECT_EQ(inclusive[i], exclusive[i + 1]);
  EXPECT_EQ(tw::inclusive_scan(along(x, l, axis::rows), {.init = 2.0f}), inclusive);
  EXPECT_EQ(tw::exclusive_scan(along(x, l, axis::rows), {.init = 2.0f}), exclusive);
  const array<float> there = on.upload(x);
  EXPECT_EQ(tw::inclusive_scan(along(there, l, axis::rows), {.init = 2.0f}).download(), inclusive);
  EXPECT_EQ(tw::exclusive_scan(along(there, l, axis::rows), {.init = 2.0f}).download(), exclusive);
  array<float> result = on.allocate<float>(x.size());
  tw::inclusive_scan(along(there, l, axis::rows), along(result, l, axis::rows), {.init = 2.0f});
  EXPECT_EQ(result.download(), inclusive);
  tw::exclusive_scan(along(there, l, axis::rows), along(result, l, axis::rows), {.init = 2.0f});
  EXPECT_EQ(result.download(), exclusive);
  tw::inclusive_scan(along(x, l, axis::columns), along(to, l, axis::columns));
  EXPECT_EQ(tw::inclusive_scan(along(x, l, axis::columns)), to);
  EXPECT_EQ(tw::inclusive_scan(along(there, l, axis::columns)).download(), to);
  tw::exclusive_scan(along(x, l, axis::columns), along(to, l, axis::columns));
  EXPECT_EQ(tw::exclusive_scan(along(x, l, axis::columns)), to);
  EXPECT_EQ(tw::exclusive_scan(along(there, l, axis::columns)).download(), to);
}

TEST(CallForms, SortsAlongAnAxis) {
  const device on = open("cpu");
  const matrix_layout l(2, 3);
  std::vector<float> expected(x.size()), to(x.size());
  tw::sort(along(std::span<const float>(x), l, axis::rows), along(std::span<float>(expected), l, axis::rows));
  for (const std::size_t i : {0, 1, 3, 4}) EXPECT_LE(expected[i], expected[i + 1]);
  tw::sort(along(x, l, axis::rows), along(to, l, axis::rows));
  EXPECT_EQ(to, expected);
  EXPECT_EQ(tw::sorted(along(x, l, axis::rows)), expected);
  const array<float> there = on.upload(x);
  EXPECT_EQ(tw::sorted(along(there, l, axis::rows)).download(), expected);
  array<float> result = on.allocate<float>(x.size());
  tw::sort(along(there, l, axis::rows), along(result, l, axis::rows));
  EXPECT_EQ(result.download(), expected);
  tw::sort(along(result, l, axis::columns), {.order = sort_order::descending});
  tw::sort(along(to, l, axis::columns), {.order = sort_order::descending});
  EXPECT_EQ(result.download(), to);
  for (const std::size_t i : {0, 1, 2}) EXPECT_GE(to[i], to[i + 3]);
}

/// Scans two parts of one array in every form: each part continues from the carry, and then adds its own elements to
/// it.
TEST(CallForms, ScansOfParts) {
  const device on = open("cpu");
  const std::span<const float> left = std::span(x).first(2), right = std::span(x).subspan(2);
  const std::vector<float> inclusive = tw::inclusive_scan(x), exclusive = tw::exclusive_scan(x, {.init = 2.0f});
  const auto end_of = [](const std::vector<float>& whole) { return std::vector(whole.begin() + 2, whole.end()); };
  partial<float> before;
  EXPECT_EQ(tw::inclusive_scan(left, {.carry = &before}), (std::vector<float>{inclusive[0], inclusive[1]}));
  partial<float> carry = before;
  EXPECT_EQ(tw::inclusive_scan(right, {.carry = &carry}), end_of(inclusive));
  EXPECT_EQ(carry.value(), tw::reduce(x));
  std::vector<float> to(4);
  tw::inclusive_scan(right, to, {.carry = &(carry = before)});
  EXPECT_EQ(to, end_of(inclusive));
  tw::exclusive_scan(right, to, {.init = 2.0f, .carry = &(carry = before)});
  EXPECT_EQ(to, end_of(exclusive));
  EXPECT_EQ(tw::exclusive_scan(right, {.carry = &(carry = before)}), end_of(tw::exclusive_scan(x)));
  EXPECT_EQ(tw::exclusive_scan(right, {.init = 2.0f, .carry = &(carry = before)}), end_of(exclusive));
  EXPECT_EQ(tw::inclusive_scan(right, {.init = 2.0f, .carry = &(carry = before)}),
            end_of(tw::inclusive_scan(x, {.init = 2.0f})));
  const array<float> there = on.upload(right);
  EXPECT_EQ(tw::inclusive_scan(there, {.carry = &(carry = before)}).download(), end_of(inclusive));
  EXPECT_EQ(tw::inclusive_scan(there, {.init = 2.0f, .carry = &(carry = before)}).download(),
            end_of(tw::inclusive_scan(x, {.init = 2.0f})));
  EXPECT_EQ(tw::exclusive_scan(there, {.carry = &(carry = before)}).download(), end_of(tw::exclusive_scan(x)));
  EXPECT_EQ(tw::exclusive_scan(there, {.init = 2.0f, .carry = &(carry = before)}).download(), end_of(exclusive));
  EXPECT_EQ(carry.end(), x.size());
}

/// They have the bits of std::int64_t and std::uint64_t, but are other types.
TEST(CallForms, ElementsMayBeLongLong) {
  const std::vector<long long> whole{3, -1, 2};
  std::vector<long long> to(3);
  EXPECT_EQ(tw::reduce(whole), 4);
  EXPECT_EQ(tw::reduce(std::vector<unsigned long long>{1, 2}, {.init = 4}), 7u);
  tw::inclusive_scan(whole, to);
  EXPECT_EQ(to, (std::vector<long long>{3, 2, 4}));
  EXPECT_EQ(tw::inclusive_scan(whole), to);
  tw::sort(whole, to);
  EXPECT_EQ(to, (std::vector<long long>{-1, 2, 3}));
  EXPECT_EQ(tw::sorted(whole), to);
  tw::sort(to, {.order = sort_order::descending});
  EXPECT_EQ(to, (std::vector<long long>{3, 2, -1}));
  partial<std::int64_t> part;
  part.push(whole);
  EXPECT_EQ(part.value(), 4);
  EXPECT_EQ(open("cpu").upload(whole).download(), (std::vector<std::int64_t>{3, -1, 2}));
}

TEST(CallForms, AnOperatorInsteadOfOptions) {
  const array<float> there = open("cpu").upload(x);
  EXPECT_EQ(tw::reduce(x, op::max), 1e8f);
  EXPECT_EQ(tw::reduce(there, op::max), 1e8f);
  EXPECT_EQ(tw::reduce(along(x, {2, 3}, axis::rows), op::max), (std::vector<float>{1e8f, 3.5f}));
  const std::vector<float> least = tw::inclusive_scan(x, {.op = op::min});
  std::vector<float> to(x.size());
  tw::inclusive_scan(x, to, op::min);
  EXPECT_EQ(to, least);
  EXPECT_EQ(tw::inclusive_scan(x, op::min), least);
  EXPECT_EQ(tw::inclusive_scan(there, op::min).download(), least);
}

TEST(CallForms, ViewsOfContiguousElements) {
  const std::vector<float> three(x.begin(), x.begin() + 3);
  EXPECT_EQ(tw::reduce(std::views::take(x, 3)), tw::reduce(three));
  EXPECT_EQ(tw::inclusive_scan(std::views::take(x, 3)), tw::inclusive_scan(three));
  EXPECT_EQ(tw::sorted(std::views::take(x, 3)), tw::sorted(three));
  std::vector<float> part(x), expected(x);
  tw::sort(std::views::take(part, 3));
  std::sort(expected.begin(), expected.begin() + 3);
  EXPECT_EQ(part, expected);
}

/// An output without a layout has that of a matrix without gaps, whatever gaps the input has.
TEST(CallForms, OutputsBesideAMatrixMayBePlain) {
  const device on = open("cpu");
  for (const matrix_layout& l : {matrix_layout(2, 3), matrix_layout(2, 2, 4)})
    for (const axis to : {axis::rows, axis::columns}) {
      std::vector<float> out(l.rows * l.columns);
      array<float> there = on.upload(out);
      tw::inclusive_scan(along(x, l, to), out);
      EXPECT_EQ(out, tw::inclusive_scan(along(x, l, to)));
      tw::inclusive_scan(along(on.upload(x), l, to), there);
      EXPECT_EQ(there.download(), out);
      tw::exclusive_scan(along(x, l, to), out);
      EXPECT_EQ(out, tw::exclusive_scan(along(x, l, to)));
      tw::sort(along(x, l, to), out);
      EXPECT_EQ(out, tw::sorted(along(x, l, to)));
    }
}

TEST(CallForms, FirstValuesOfOtherTypesThanTheElements) {
  const float sum = tw::reduce(x, {.init = 5.0f});
  EXPECT_EQ(tw::reduce(x, {.init = 5}), sum);
  EXPECT_EQ(tw::reduce(x, {.init = 5u}), sum);
  EXPECT_EQ(tw::reduce(x, {.init = 5.0}), sum);
  EXPECT_EQ(tw::reduce(x, {.init = std::optional(5)}), sum);
  EXPECT_EQ(tw::reduce(x, {.init = std::optional<double>()}), tw::reduce(x));
  EXPECT_EQ(tw::exclusive_scan(x, {.init = 5}), tw::exclusive_scan(x, {.init = 5.0f}));
  EXPECT_EQ(tw::reduce(std::vector<std::int32_t>{1, 2}, {.init = 4.0}), 7);
}

TEST(CallForms, Partials) {
  const device on = open("cpu");
  partial<float> left, right(op::sum, 4);
  left.push(1e8f);
  left.push(std::array{1.0f, -1e8f});
  left.push(x[3]);
  right.push(on.upload(std::span(x).subspan(4)));
  left.merge(right);
  EXPECT_EQ(left.value(), tw::reduce(x));
  EXPECT_EQ(left.end(), x.size());
  partial<float> whole;
  whole.push(x);
  EXPECT_EQ(std::memcmp(&whole, &left, sizeof whole), 0);
}

TEST(CallForms, Sorts) {
  const device on = open("cpu");
  const std::vector<float> ascending = tw::sorted(x);
  EXPECT_TRUE(std::is_sorted(ascending.begin(), ascending.end()));
  std::vector<float> keys(x), part(x), to(x.size());
  tw::sort(keys);
  EXPECT_EQ(keys, ascending);
  tw::sort(x, to);
  EXPECT_EQ(to, ascending);
  tw::sort(middle_of(part), {.order = sort_order::descending});
  EXPECT_EQ(part, (std::vector<float>{1e8f, 1.0f, 3.5f, -2.0f, -1e8f, 0.25f}));
  array<float> there = on.upload(x);
  EXPECT_EQ(tw::sorted(there).download(), ascending);
  tw::sort(there);
  EXPECT_EQ(there.download(), ascending);
}

TEST(CallForms, SortsWithCompanions) {
  const device on = open("cpu");
  const std::vector<std::uint32_t> indices = tw::argsort(x);
  EXPECT_EQ(indices, (std::vector<std::uint32_t>{2, 4, 5, 1, 3, 0}));
  EXPECT_EQ(tw::argsort(on.upload(x)).download(), indices);
  std::vector<std::uint32_t> into(x.size());
  tw::argsort(x, into);
  EXPECT_EQ(into, indices);
  std::vector<float> keys(x), values(y);
  tw::sort_by_key(keys, values);
  EXPECT_EQ(keys, tw::sorted(x));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(values[i], y[indices[i]]);
  std::vector<float> keys_out(x.size()), values_out(x.size());
  tw::sort_by_key(x, y, keys_out, values_out);
  EXPECT_EQ(values_out, values);
  array<float> keys_there = on.upload(x), values_there = on.upload(y);
  tw::sort_by_key(keys_there, values_there);
  EXPECT_EQ(values_there.download(), values);
}

TEST(CallForms, Products) {
  const device on = open("cpu");
  const matrix_layout a(2, 3), b(3, 2);
  std::vector<float> c(4), product(2);
  tw::matmul(x, a, y, b, c, {2, 2});
  EXPECT_EQ(tw::matmul(x, a, y, b), c);
  EXPECT_EQ(tw::matmul(on.upload(x), a, on.upload(y), b).download(), c);
  const std::span<const float> three = std::span(y).first(3);
  tw::matvec(x, a, three, product);
  EXPECT_EQ(tw::matvec(x, a, three), product);
  EXPECT_EQ(tw::matvec(on.upload(x), a, on.upload(three)).download(), product);
  std::vector<float> coefficients(product_size(x.size(), y.size()));
  tw::polymul(x, y, coefficients);
  EXPECT_EQ(tw::polymul(x, y), coefficients);
  EXPECT_EQ(tw::polymul(on.upload(x), on.upload(y)).download(), coefficients);
}

TEST(CallForms, Stencils) {
  const device on = open("cpu");
  const image_size image{2, 3}, mask{1, 3};
  const std::span<const float> weights = std::span(y).first(3);
  std::vector<float> valid(2);
  tw::convolve(x, image, weights, mask, valid);
  EXPECT_EQ(tw::convolve(x, image, weights, mask), valid);
  EXPECT_EQ(tw::convolve(on.upload(x), image, on.upload(weights), mask).download(), valid);
  const diffusion steps{.rows = 2, .columns = 3, .steps = 3};
  std::vector<float> later(x.size());
  tw::diffuse(x, later, steps);
  EXPECT_EQ(tw::diffuse(x, steps), later);
  EXPECT_EQ(tw::diffuse(on.upload(x), steps).download(), later);
}

TEST(CallForms, DownloadsIntoHostMemoryOfTheSameSize) {
  const array<float> there = open("cpu").upload(x);
  std::vector<float> back(x.size()), short_one(x.size() - 1);
  there.download(back);
  EXPECT_EQ(back, x);
  EXPECT_THROW(there.download(short_one), error);
}

TEST(CallForms, ResultsWithoutRoomAreAnError) {
  const std::vector<float> none;
  const matrix_layout tall(std::uint64_t{1} << 62, 1), wide(1, std::uint64_t{1} << 62);
  EXPECT_THROW(tw::matmul(none, tall, none, wide), error);
  EXPECT_THROW(tw::matvec(none, tall, x), error);
}

template <class Operand>
using call_with_gaps = std::function<void(const Operand&, const Operand&, Operand&, const device&)>;

/// Every algorithm whose result may have gaps between its rows.
template <class Operand>
std::vector<call_with_gaps<Operand>> calls_with_gaps() {
  const matrix_layout packed(3, 2), apart(3, 2, 4), square(2, 2);
  std::vector<call_with_gaps<Operand>> calls{[=](const Operand& a, const Operand& b, Operand& c, const device& on) {
    tw::matmul(a, packed, b, square, c, apart, {.device = on});
  }};
  for (const axis which : {axis::rows, axis::columns}) {
    calls.push_back([=](const Operand& a, const Operand&, Operand& c, const device& on) {
      tw::inclusive_scan(along(a, packed, which), along(c, apart, which), {.device = on});
    });
    calls.push_back([=](const Operand& a, const Operand&, Operand& c, const device& on) {
      tw::sort(along(a, packed, which), along(c, apart, which), {.device = on});
    });
  }
  return calls;
}

/// Tests host memory, which a device may copy, and arrays on the device. Before each call the gaps are set to the next
/// value of `before`, which is nowhere in memory yet.
template <class Operand, class Make, class Host>
void expect_gaps_as_before(const device& on, float& before, const Make& make, const Host& host) {
  const Operand a = make(x), b = make(y);
  for (const auto& call : calls_with_gaps<Operand>()) {
    Operand c = make(std::vector<float>(10, ++before));
    try {
      call(a, b, c, on);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::unsupported) << on.name() << ": " << e.what();  // not every backend has every algorithm
      continue;
    }
    const std::vector<float> rows = host(c);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i] == before, i % 4 >= 2) << on.name() << ", " << i;
  }
}

TEST(CallForms, WhatLiesBetweenTheRowsOfAResultStays) {
  std::vector<device> all = devices();
  all.push_back(open("2*cpu:serial"));
  float before = 100;
  for (const device& on : all) {
    const auto itself = [](const std::vector<float>& v) { return v; };
    expect_gaps_as_before<std::vector<float>>(on, before, itself, itself);
    expect_gaps_as_before<array<float>>(
        on, before, [&](const std::vector<float>& v) { return on.upload(v); },
        [](const array<float>& c) { return c.download(); });
  }
}

/// Views of one memory that overlap in part: every call refuses them, however they overlap.
TEST(CallForms, ArraysThatOverlapInPartAreRefused) {
  const device on = open("cpu");
  std::vector<float> memory(100, 1.0f);
  for (const std::size_t shift : {1, 7, 8, 31, 39}) {
    const array<float> in = view<float>(on, memory.data() + 10, 40);
    array<float> moved = view<float>(on, memory.data() + 10 + shift, 40);
    EXPECT_THROW(tw::inclusive_scan(in, moved), error) << shift;
    EXPECT_THROW(tw::exclusive_scan(in, moved, {.init = 1.0f}), error) << shift;
    EXPECT_THROW(tw::sort(in, moved), error) << shift;
  }
  EXPECT_EQ(memory, std::vector<float>(100, 1.0f));
}

}  // namespace
}  // namespace tilewise::tests
