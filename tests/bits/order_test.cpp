// SPDX-License-Identifier: Apache-2.0
// Tests the order against its two-line definition, its laws through the public interface, and the operators against
// expected results written case by case.
#include "helpers.hpp"
#include "lab/verify/generate.hpp"
#include "order/block_stack.hpp"
#include "parts.hpp"
#include "special_values.hpp"

#include <tilewise/tilewise.hpp>

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace {

template <class T>
std::uint64_t bits(T value) {
  std::uint64_t all = 0;
  std::memcpy(&all, &value, sizeof value);
  return all;
}

/// V: the balanced tree over a block.
template <class T, class Op>
T block_value(const T* x, std::uint64_t length) {
  return length == 1
             ? *x
             : Op::template apply<T>(block_value<T, Op>(x, length / 2), block_value<T, Op>(x + length / 2, length / 2));
}

/// P: the values of the blocks for the binary digits of m > 0, highest first, folded from the left.
template <class T, class Op>
T prefix_value(const T* x, std::uint64_t m) {
  std::uint64_t done = std::bit_floor(m);
  T result = block_value<T, Op>(x, done);
  for (std::uint64_t length = done / 2; length != 0; length /= 2)
    if ((m & length) != 0) {
      result = Op::template apply<T>(result, block_value<T, Op>(x + done, length));
      done += length;
    }
  return result;
}

template <class T>
class Order : public ::testing::Test {};
using element_types = ::testing::Types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Order, element_types);

/// With these data, another order of sums and products gives other bits.
constexpr std::array sensitive{lab::data_class::uniform, lab::data_class::wide, lab::data_class::near_one,
                               lab::data_class::cancelling};

}  // namespace

TYPED_TEST(Order, BlockStackIsTheDefinition) {
  using T = TypeParam;
  for (lab::data_class data : sensitive)
    for (op operation : all_ops)
      order::with_operator(operation, [&]<class Op>(Op) {
        const std::vector<T> x = values_of<T>(data, 7, 700);
        order::block_stack<T, Op> blocks;
        for (std::uint64_t i = 0; i < x.size(); ++i) {
          blocks.push(x[i]);
          const T expected = prefix_value<T, Op>(x.data(), i + 1);
          ASSERT_EQ(bits(order::canonical(blocks.fold())), bits(order::canonical(expected)))
              << name_of(operation) << " of " << name_of(data) << ", P(" << i + 1 << ")";
        }
      });
}

TYPED_TEST(Order, WholeBlocksMayBePushedAtOnce) {
  using T = TypeParam;
  constexpr std::uint64_t length = 16, n = 600;
  const std::vector<T> x = values_of<T>(lab::data_class::wide, 3, n);
  order::block_stack<T, order::sum> blocks;
  for (std::uint64_t i = 0; i + length <= n; i += length) blocks.push(block_value<T, order::sum>(&x[i], length), 4);
  for (std::uint64_t i = n / length * length; i < n; ++i) blocks.push(x[i]);
  EXPECT_EQ(blocks.count(), n);
  EXPECT_EQ(bits(blocks.fold()), bits(prefix_value<T, order::sum>(x.data(), n)));
}

TYPED_TEST(Order, InclusiveScanIsTheReductionOfEachPrefixOnEveryDevice) {
  using T = TypeParam;
  constexpr std::uint64_t n = 300;
  for (const device& on : tests::devices_with("scan")) {
    // On other backends each type and operator is another program to compile; the sweep tests them.
    if (on.info().backend != "cpu" && !std::is_same_v<T, float>) continue;
    for (lab::data_class data : sensitive)
      for (op operation : all_ops) {
        const std::vector<T> x = values_of<T>(data, 11, n);
        std::vector<T> y(n);
        try {
          inclusive_scan(x, y, {.op = operation, .device = on});
        } catch (const error& e) {  // a device without this type
          ASSERT_EQ(e.code(), errc::unsupported) << e.what();
          ASSERT_NE(on.info().backend, "cpu") << e.what();
          continue;
        }
        for (std::uint64_t i = 0; i < n; i += on.info().backend == "cpu" ? 1 : 37) {
          const T expected = reduce(std::span(x).first(i + 1), {.op = operation, .device = on});
          ASSERT_EQ(bits(y[i]), bits(expected))
              << on.name() << " " << name_of(operation) << " of " << name_of(data) << " at " << i;
        }
      }
  }
}

TYPED_TEST(Order, TheLibrarysFaceIsTheDefinitionAtAllSmallSizesAndAroundItsShortcuts) {
  using T = TypeParam;
  std::vector<std::uint64_t> sizes{255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 70001};
  for (std::uint64_t n = 0; n <= 70; ++n) sizes.push_back(n);
  for (lab::data_class data : {lab::data_class::wide, lab::data_class::nan, lab::data_class::zeros})
    for (op operation : all_ops)
      order::with_operator(operation, [&]<class Op>(Op) {
        for (std::uint64_t n : sizes) {
          const std::vector<T> x = values_of<T>(data, 2 * n, n);
          std::vector<T> y = x;
          inclusive_scan(y, y, {.op = operation});
          order::block_stack<T, Op> blocks;
          for (std::uint64_t i = 0; i < n; ++i) {
            blocks.push(x[i]);
            ASSERT_EQ(bits(y[i]), bits(order::canonical(blocks.fold()))) << name_of(data) << " n=" << n << " at " << i;
          }
          if (n == 0) continue;
          ASSERT_EQ(bits(reduce(x, {.op = operation})), bits(y.back())) << name_of(data) << " n=" << n;
        }
      });
}

TYPED_TEST(Order, ExclusiveScanIsTheInclusiveOneShiftedBehindTheInitialValue) {
  using T = TypeParam;
  constexpr std::uint64_t n = 1500;
  for (lab::data_class data : sensitive)
    for (op operation : all_ops)
      order::with_operator(operation, [&]<class Op>(Op) {
        const std::vector<T> x = values_of<T>(data, 5, n);
        const T init = values_of<T>(data, 6, 1)[0];
        std::vector<T> inclusive(n), exclusive(n), from_init(n);
        inclusive_scan(x, inclusive, {.op = operation});
        exclusive_scan(x, exclusive, {.op = operation, .init = init});
        inclusive_scan(std::span<const T>(x), std::span<T>(from_init), {.op = operation, .init = init});
        for (std::uint64_t i = 0; i < n; ++i) {
          ASSERT_EQ(bits(from_init[i]), bits(order::canonical(Op::template apply<T>(init, inclusive[i])))) << i;
          ASSERT_EQ(bits(exclusive[i]), bits(i == 0 ? init : from_init[i - 1])) << i;
        }
      });
}

TYPED_TEST(Order, IdentitiesLeaveEveryValueItsBits) {
  using T = TypeParam;
  for (op operation : all_ops)
    order::with_operator(operation, [&]<class Op>(Op) {
      const T identity = Op::template identity<T>();
      for (T value : special_values<T>()) {
        EXPECT_EQ(bits(order::canonical(Op::template apply<T>(identity, value))), bits(order::canonical(value)));
        EXPECT_EQ(bits(order::canonical(Op::template apply<T>(value, identity))), bits(order::canonical(value)));
      }
    });
}

TYPED_TEST(Order, OperatorsOnAllPairsOfSpecialValues) {
  using T = TypeParam;
  const std::array<T, 64> values = special_values<T>();
  const device on = open("cpu:serial");
  for (op operation : all_ops)
    order::with_operator(operation, [&]<class Op>(Op) {
      for (T a : values)
        for (T b : values) {
          const T pair[]{a, b};
          const T expected = oracle(operation, a, b);
          ASSERT_EQ(bits(order::canonical(Op::template apply<T>(a, b))), bits(expected))
              << name_of(operation) << " of " << std::hex << bits(a) << " and " << bits(b);
          ASSERT_EQ(bits(reduce(std::span<const T>(pair), {.op = operation, .device = on})), bits(expected))
              << "reduce by " << name_of(operation) << " of " << std::hex << bits(a) << " and " << bits(b);
        }
    });
}

TYPED_TEST(Order, ResultsAreCanonicalEvenWhereNothingIsComputed) {
  using T = TypeParam;
  for (T value : special_values<T>()) {
    const std::uint64_t expected = bits(order::canonical(value));
    std::vector<T> one{value};
    EXPECT_EQ(bits(reduce(one)), expected);
    EXPECT_EQ(bits(reduce(std::span<const T>(), {.op = op::min, .init = value})), expected);
    exclusive_scan(std::vector<T>(one), one, {.init = value});
    EXPECT_EQ(bits(one[0]), expected);
  }
}

}  // namespace tilewise::tests
