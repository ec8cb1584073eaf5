// Parts of a longer array: however it is cut, and in whatever grouping neighbours are merged, a part has the same
// bytes, the reduction and the scan have the bits of one call.
#include "helpers.hpp"
#include "order/block_stack.hpp"
#include "order/segment.hpp"

#include <tilewise/tilewise.hpp>

#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace {

constexpr std::uint64_t two33 = std::uint64_t{1} << 33;
/// Other associations have other bits on the first four; the others have NaNs of all payloads and zeros of both signs.
constexpr std::array telling{lab::data_class::uniform,    lab::data_class::wide, lab::data_class::near_one,
                             lab::data_class::cancelling, lab::data_class::nan,  lab::data_class::zeros};

template <class T>
std::vector<T> values_of(lab::data_class data, std::uint64_t seed, std::uint64_t n) {
  std::vector<T> values(n);
  lab::generate(data, seed, dtype_of<T>, 0, n, values.data());
  return values;
}

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

std::mt19937_64 random_numbers(5);

/// Ends of parts that make up [0, n), some of them empty.
std::vector<std::uint64_t> random_ends(std::uint64_t n, std::size_t parts) {
  std::vector<std::uint64_t> ends{n};
  while (ends.size() < parts) ends.push_back(random_numbers() % (n + 1));
  std::sort(ends.begin(), ends.end());
  return ends;
}

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

/// One part for each of random cuts of x, whose first element has the position `begin`.
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
using element_types = ::testing::Types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
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
      const std::uint64_t parent = first & ~(2 * length - 1);  // of twice the length: it must reach out of the part
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
        const T expected = reduce(x, {.operation = operation});
        ASSERT_TRUE(same_bytes(merged(parts_of(x, operation, 0)).value(), expected)) << name_of(data) << " " << n;
      }
}

/// 2^40 elements and more, given by the values of random blocks of them.
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
    if (on.info().backend != "cpu" && !std::is_same_v<T, float>) continue;  // a program to compile for each type
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
    EXPECT_EQ(code_of([&] { partial<float>(operation).value(); }), errc::invalid_argument);
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
  refused([&] { part.push(std::vector<float>(3), {.operation = op::max}); });
  refused([&] { part.push(std::vector<float>(5000), {.variant = "no_such"}); });
  refused([&] { part.push(std::span<const float>(static_cast<const float*>(nullptr), 7)); });
  refused([&] { partial<float>(static_cast<op>(9)); });
  partial<float> last(op::sum, ~std::uint64_t{0} - 2);
  last.push(std::vector<float>(2));
  refused([&] { last.push(1.0f); });
  refused([&] { last.push(std::vector<float>(1)); });
}

namespace {

/// The four kinds of scan.
template <class T>
struct kind {
  bool exclusive;
  std::optional<T> init;

  void whole(std::span<const T> in, std::span<T> out, const scan_options& o) const {
    if (exclusive)
      init ? exclusive_scan(in, out, *init, o) : exclusive_scan(in, out, o);
    else
      init ? inclusive_scan(in, out, *init, o) : inclusive_scan(in, out, o);
  }
  template <class In, class Out>
  void part(const In& in, Out& out, partial<T>& carry, const scan_options& o = {}) const {
    if (exclusive)
      init ? exclusive_scan(in, out, *init, carry, o) : exclusive_scan(in, out, carry, o);
    else
      init ? inclusive_scan(in, out, *init, carry, o) : inclusive_scan(in, out, carry, o);
  }
};

template <class T>
std::vector<kind<T>> kinds_for(op operation) {
  const T init = values_of<T>(lab::data_class::wide, 77, 1)[0];
  std::vector<kind<T>> all{{false, {}}, {false, init}, {true, init}};
  if (operation == op::sum || operation == op::product) all.push_back({true, {}});
  return all;
}

/// Scans x in random parts, in place or not, and compares with one call.
template <class T>
void expect_one_call(const std::vector<T>& x, const kind<T>& how, op operation, const scan_options& options) {
  std::vector<T> expected(x.size()), y = random_numbers() % 2 == 0 ? x : std::vector<T>(x.size());
  how.whole(x, expected, {.operation = operation});
  const bool in_place = same_bytes(x, y);
  partial<T> carry(operation), reduced(operation);
  std::uint64_t first = 0;
  for (const std::uint64_t end : random_ends(x.size(), 6)) {
    std::span<T> out = std::span(y).subspan(first, end - first);
    const std::span<const T> in = in_place ? std::span<const T>(out) : std::span(x).subspan(first, end - first);
    how.part(in, out, carry, options);
    first = end;
  }
  reduced.push(x);
  ASSERT_TRUE(same_bytes(y, expected)) << name_of(operation) << " n=" << x.size() << " exclusive=" << how.exclusive
                                       << " init=" << how.init.has_value() << " in place=" << in_place;
  ASSERT_TRUE(same_bytes(carry, reduced));
}

}  // namespace

TYPED_TEST(Partial, ScansOfPartsHaveTheBitsOfOneCall) {
  using T = TypeParam;
  for (const lab::data_class data : telling)
    for (const op operation : all_ops)
      for (const kind<T>& how : kinds_for<T>(operation))
        for (const std::uint64_t n : {1, 6, 40, 300, 5000, 70'001})
          expect_one_call(values_of<T>(data, n, n), how, operation, {});
}

TYPED_TEST(Partial, ScansOfPartsHaveThemOnEveryDeviceAndWithEveryVariant) {
  using T = TypeParam;
  for (const device& on : devices_with("scan")) {
    if (on.info().backend != "cpu" && !std::is_same_v<T, float>) continue;
    for (const registry::variant* v : registry::variants_of(registry::find_algorithm("scan"))) {
      if (v->peer || v->device_backend() != on.info().backend) continue;
      const std::string id = v->id();
      for (const std::string_view variant : {std::string_view(), std::string_view(id)})
        for (const kind<T>& how : kinds_for<T>(op::sum))
          expect_one_call(values_of<T>(lab::data_class::wide, 3, 20'011), how, op::sum,
                          {.device = on, .variant = variant});
    }
  }
}

TEST(ScanOfParts, LongerThanAPieceOfTheHostsCache) {
  const std::vector<float> x = wide_floats((std::uint64_t{5} << 20) + 77);
  for (const kind<float>& how : kinds_for<float>(op::sum)) expect_one_call(x, how, op::sum, {});
}

TEST(ScanOfParts, OfArraysOnEveryDevice) {
  const std::vector<float> x = wide_floats(50'021);
  for (const device& on : devices_with("scan"))
    for (const kind<float>& how : kinds_for<float>(op::sum)) {
      std::vector<float> expected(x.size()), y;
      how.whole(x, expected, {});
      partial<float> carry, reduced;
      reduced.push(x);
      std::uint64_t first = 0;
      for (const std::uint64_t end : random_ends(x.size(), 5)) {
        const array<float> in = on.upload(std::span(x).subspan(first, end - first));
        array<float> out = on.allocate<float>(in.size());
        how.part(in, out, carry);
        const std::vector<float> there = out.download();
        y.insert(y.end(), there.begin(), there.end());
        first = end;
      }
      EXPECT_TRUE(same_bytes(y, expected)) << on.name() << " exclusive=" << how.exclusive;
      EXPECT_TRUE(same_bytes(carry, reduced)) << on.name();
    }
}

TYPED_TEST(Partial, ScansContinueBeyond32BitPositions) {
  using T = TypeParam;
  for (const op operation : all_ops)
    order::with_operator(operation, [&]<class Op>(Op) {
      for (const std::uint64_t begin : {two33 - 1, two33, two33 + 4096, two33 + 12'345}) {
        order::block_stack<T, Op> stack;
        order::segment<T> before;
        const std::vector<T> blocks = values_of<T>(lab::data_class::wide, begin, 64);
        const T* next = blocks.data();
        order::for_each_block(0, begin, [&](std::uint64_t, unsigned level) {
          order::append<Op>(before, *next, level);
          stack.push(*next++, level);
        });
        partial<T> carry(operation, before);
        const std::vector<T> x = values_of<T>(lab::data_class::wide, 1, 10'000), y = inclusive_scan(x, carry);
        for (std::uint64_t i = 0; i < x.size(); ++i) {
          stack.push(x[i]);
          ASSERT_TRUE(same_bytes(y[i], order::canonical(stack.fold()))) << name_of(operation) << " " << begin + i;
        }
        ASSERT_EQ(carry.end(), begin + x.size());
      }
    });
}

TEST(ScanOfParts, RefusesWhatHasNoMeaningAndTouchesNothing) {
  std::vector<float> x = wide_floats(6000), y(6000, 42.0f);
  const std::vector<float> x_before = x, y_before = y;
  partial<float> carry(op::max), late(op::max, 5), endless(op::sum, 0);
  carry.push(3.0f);
  const std::array before{carry, late};
  const std::span<float> all(x);
  const auto refused = [&](auto call) {
    EXPECT_EQ(code_of(call), errc::invalid_argument);
    EXPECT_TRUE(same_bytes(before, std::array{carry, late})) << "the carry was touched";
    EXPECT_TRUE(same_bytes(x, x_before) && same_bytes(y, y_before)) << "memory was touched";
  };
  for (const std::uint64_t n : {10u, 6000u}) {
    const std::span<const float> in(x.data(), n);
    const std::span<float> out(y.data(), n);
    refused([&] { inclusive_scan(in, out, late); });
    refused([&] { inclusive_scan(in, out.first(n - 1), carry); });
    refused([&] { inclusive_scan(in, out, carry, {.operation = op::product}); });
    refused([&] { exclusive_scan(in, out, carry); });
    refused([&] { inclusive_scan(in, out, carry, {.variant = "no_such"}); });
    refused([&] { inclusive_scan<float>(in.first(n / 2), all.subspan(1, n / 2), carry); });
    // The first pieces of these lie apart; the operands do not.
    refused([&] { inclusive_scan<float>(all.first(n / 2), all.subspan(n / 2 - 1, n / 2), carry); });
    refused([&] { inclusive_scan(std::span<const float>(static_cast<const float*>(nullptr), n), out, carry); });
  }
}

}  // namespace tilewise::tests
