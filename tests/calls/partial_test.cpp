// SPDX-License-Identifier: Apache-2.0
// Partials: however an array is cut, and in whatever grouping neighbours are merged, a part has the same bytes, and the
// whole has the value of a single call.
#include "order/block_stack.hpp"
#include "order/segment.hpp"
#include "parts.hpp"
#include "special_values.hpp"

#include <tilewise/tilewise.hpp>

#include <limits>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace {

/// Merges neighbours in a random order until one part is left.
template <class T>
partial<T> merged(std::vector<partial<T>> parts) {
  while (parts.size() > 1) {
    const std::size_t left = random_numbers() % (parts.size() - 1);
    parts[left].merge(parts[left + 1]);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(left) + 1);
  }
  return parts[0];
}

/// One partial for each of several random parts of x; the first element of x has the position `begin`.
template <class T>
std::vector<partial<T>> parts_of(const std::vector<T>& x, op operation, std::uint64_t begin) {
  std::vector<partial<T>> parts;
  std::uint64_t first = 0;
  for (const std::uint64_t end : random_ends(x.size(), 7)) {
    parts.emplace_back(operation, begin + first);
    parts.back().push(std::span(x).subspan(first, end - first));
    first = end;
  }
  return parts;
}

template <class T>
class Partial : public ::testing::Test {};
TYPED_TEST_SUITE(Partial, element_types);

}  // namespace

TEST(Segment, ConsistsOfTheLargestBlocksThatLieInIt) {
  constexpr std::uint64_t last = ~std::uint64_t{0};
  EXPECT_EQ(order::block_count(1, last), 126u);
  EXPECT_EQ(order::block_count(0, last), 64u);
  for (int i = 0; i < 20'000; ++i) {
    std::uint64_t begin = random_numbers() >> random_numbers() % 64, end = random_numbers() >> random_numbers() % 64;
    if (begin > end) std::swap(begin, end);
    unsigned count = 0;
    std::uint64_t at = begin;
    order::for_each_block(begin, end, [&](std::uint64_t first, unsigned level) {
      const std::uint64_t length = std::uint64_t{1} << level;
      ASSERT_EQ(first, at);
      ASSERT_EQ(first % length, 0u);
      const std::uint64_t parent = first & ~(2 * length - 1);  // of twice the length; it must extend beyond the part
      ASSERT_TRUE(level == 63 || parent < begin || end - parent < 2 * length) << begin << " " << end << " " << first;
      at += length;
      ++count;
    });
    ASSERT_EQ(at, end);
    ASSERT_EQ(order::block_count(begin, end), count) << begin << " " << end;
  }
}

TYPED_TEST(Partial, HasTheSameBytesHoweverItIsCutAndMerged) {
  using T = TypeParam;
  for (const lab::data_class data : telling)
    for (const op operation : all_ops)
      for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4095}, two33 + 12'345}) {
        const std::vector<T> x = values_of<T>(data, begin, 700);
        partial<T> one_by_one(operation, begin);
        for (const T value : x) one_by_one.push(value);
        for (int grouping = 0; grouping < 5; ++grouping)
          ASSERT_TRUE(same_bytes(merged(parts_of(x, operation, begin)), one_by_one))
              << name_of(operation) << " of " << name_of(data) << " from " << begin;
      }
}

TYPED_TEST(Partial, HasTheValueOfReduce) {
  using T = TypeParam;
  for (const lab::data_class data : telling)
    for (const op operation : all_ops)
      for (const std::uint64_t n : {1, 2, 3, 31, 1000, 4097, 20'000}) {
        const std::vector<T> x = values_of<T>(data, n, n);
        const T expected = reduce(x, {.op = operation});
        ASSERT_TRUE(same_bytes(merged(parts_of(x, operation, 0)).value(), expected)) << name_of(data) << " " << n;
      }
}

/// Three elements are two blocks, so a NaN may arise within a block, in the fold of blocks, or by merging.
TYPED_TEST(Partial, OfSpecialValuesHasTheValueOfReduce) {
  using T = TypeParam;
  const std::array<T, 64> values = special_values<T>();
  for (const op operation : all_ops)
    for (std::size_t i = 0; i < values.size() * values.size() * values.size(); i += 7) {
      const std::vector<T> x{values[i / 4096], values[i / 64 % 64], values[i % 64]};
      const T expected = oracle(operation, oracle(operation, x[0], x[1]), x[2]);
      partial<T> at_once(operation);
      at_once.push(x);
      ASSERT_TRUE(same_bytes(at_once.value(), expected)) << name_of(operation) << " " << i;
      ASSERT_TRUE(same_bytes(merged(parts_of(x, operation, 0)).value(), expected)) << name_of(operation) << " " << i;
    }
}

/// 2^40 elements and more, represented by the values of random blocks.
TYPED_TEST(Partial, BeyondAnyMemoryBySyntheticBlocks) {
  using T = TypeParam;
  for (const op operation : all_ops)
    order::with_operator(operation, [&]<class Op>(Op) {
      for (int attempt = 0; attempt < 20; ++attempt) {
        order::block_stack<T, Op> stack;
        std::vector<partial<T>> parts;
        std::uint64_t first = 0;
        for (const std::uint64_t end : random_ends((std::uint64_t{1} << 40) + random_numbers() % two33, 6)) {
          order::segment<T> part{first, first, {}};
          const std::vector<T> values = values_of<T>(lab::data_class::wide, end, 126);
          const T* next = values.data();
          order::for_each_block(first, end, [&](std::uint64_t, unsigned level) {
            order::append<Op>(part, *next, level);
            stack.push(*next++, level);
          });
          parts.emplace_back(operation, part);
          first = end;
        }
        const partial<T> all = merged(parts);
        ASSERT_EQ(all.end(), stack.count());
        ASSERT_TRUE(same_bytes(all.value(), order::canonical(stack.fold()))) << name_of(operation);
      }
    });
}

TYPED_TEST(Partial, IsTheSameFromEveryDevice) {
  using T = TypeParam;
  for (const device& on : devices_with("reduce")) {
    if (on.info().backend != "cpu" && !std::is_same_v<T, float>) continue;  // each type is another program to compile
    for (const std::uint64_t n : {0u, 5u, 4096u, 8191u, 100'003u})
      for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{3}, two33 - 4000}) {
        const std::vector<T> x = values_of<T>(lab::data_class::nan, n, n);
        partial<T> expected(op::sum, begin), from_span = expected, from_array = expected;
        for (const T value : x) expected.push(value);
        from_span.push(x, {.device = on});
        from_array.push(on.upload(x));
        EXPECT_TRUE(same_bytes(from_span, expected)) << on.name() << " " << n << " from " << begin;
        EXPECT_TRUE(same_bytes(from_array, expected)) << on.name() << " " << n << " from " << begin;
      }
  }
}

TEST(PartialOfNans, HasTheCanonicalOneWhereverItComesFrom) {
  const float odd = __builtin_bit_cast(float, 0xffc12345u), infinity = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& x : {std::vector{odd}, std::vector{1.0f, odd}, std::vector{infinity, -infinity}}) {
    partial<float> one_by_one, at_once;
    for (const float value : x) one_by_one.push(value);
    at_once.push(x);
    EXPECT_TRUE(same_bytes(one_by_one, at_once)) << x[0];
  }
}

TEST(PartialOfNothing, IsReduceOfNothing) {
  EXPECT_EQ(partial<float>().value(), 0.0f);
  EXPECT_EQ(partial<float>(op::product).value(), 1.0f);
  for (const op operation : {op::min, op::max})
    EXPECT_NE(message_of(errc::invalid_argument, [&] { partial<float>(operation).value(); }).find("push some first"),
              std::string::npos);
  partial<float> empty(op::max, 3), part(op::max, 3);
  part.push(2.0f);
  empty.merge(part);
  EXPECT_TRUE(same_bytes(empty, part));
  part.merge(partial<float>(op::max, 4));
  EXPECT_TRUE(same_bytes(empty, part));
}

TEST(PartialRefuses, WhatHasNoMeaning) {
  partial<float> part(op::sum, 10);
  part.push(1.0f);
  const partial<float> before = part;
  const auto refused = [&](auto call) {
    EXPECT_EQ(code_of(call), errc::invalid_argument);
    EXPECT_TRUE(same_bytes(part, before)) << "it was touched";
  };
  refused([&] { part.value(); });
  refused([&] { part.merge(partial<float>(op::sum, 10)); });
  refused([&] { part.merge(partial<float>(op::sum, 12)); });
  refused([&] { part.merge(partial<float>(op::product, 11)); });
  refused([&] { part.push(std::vector<float>(5000), {.variant = "no_such"}); });
  refused([&] { part.push(std::span<const float>(static_cast<const float*>(nullptr), 7)); });
  refused([&] { partial<float>(static_cast<op>(9)); });
  partial<float> last(op::sum, ~std::uint64_t{0} - 2);
  last.push(std::vector<float>(2));
  refused([&] { last.push(1.0f); });
  refused([&] { last.push(std::vector<float>(1)); });
  for (const device& on : devices()) {
    SCOPED_TRACE(on.name());
    const array<float> one = on.upload(std::vector<float>(1));
    refused([&] { part.push(one, {.variant = "no_such"}); });
    refused([&] { last.push(one); });
  }
}

}  // namespace tilewise::tests
