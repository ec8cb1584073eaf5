// SPDX-License-Identifier: Apache-2.0
// Scans of parts of a longer array have the bits of one call, wherever it is cut, on every device.
#include "parts.hpp"
#include "helpers.hpp"
#include "lab/verify/verify.hpp"
#include "order/block_stack.hpp"
#include "order/segment.hpp"
#include "planted_variant.hpp"
#include "special_values.hpp"

#include <tilewise/tilewise.hpp>

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace {

/// The four kinds of scan.
template <class T>
struct kind {
  bool exclusive;
  std::optional<T> init;

  template <class In, class Out>
  void whole(const In& in, Out& out, scan_options o) const {
    o.init = init;
    exclusive ? tilewise::exclusive_scan(in, out, o) : tilewise::inclusive_scan(in, out, o);
  }
  template <class In, class Out>
  void part(const In& in, Out& out, partial<T>& carry, scan_options o = {}) const {
    o.carry = &carry;
    whole(in, out, o);
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
  how.whole(x, expected, {.op = operation});
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

template <class T>
class ScanOfParts : public ::testing::Test {};
TYPED_TEST_SUITE(ScanOfParts, element_types);

}  // namespace

TYPED_TEST(ScanOfParts, HaveTheBitsOfOneCall) {
  using T = TypeParam;
  const std::uint64_t longest = test_cover() == cover::few ? 300 : 70'001;
  for (const lab::data_class data : telling)
    for (const op operation : all_ops)
      for (const kind<T>& how : kinds_for<T>(operation))
        for (const std::uint64_t n : {1, 6, 40, 300, 5000, 70'001})
          if (n <= longest) expect_one_call(values_of<T>(data, n, n), how, operation, {});
}

/// Few, so that most results are no NaN before the last part: one may come up in a part, with what precedes it, or with
/// an initial value.
TYPED_TEST(ScanOfParts, OfSpecialValuesHaveTheBitsOfOneCall) {
  using T = TypeParam;
  const std::array<T, 64> values = special_values<T>();
  const auto any = [&] { return values[random_numbers() % values.size()]; };
  for (int attempt = 0; attempt < 3000; ++attempt)
    for (const op operation : all_ops)
      for (kind<T> how : kinds_for<T>(operation)) {
        if (how.init) how.init = any();
        std::vector<T> x(1 + random_numbers() % 6);
        std::generate(x.begin(), x.end(), any);
        expect_one_call(x, how, operation, {});
      }
}

TYPED_TEST(ScanOfParts, HaveThemOnEveryDeviceAndWithEveryVariant) {
  using T = TypeParam;
  for (const device& on : devices_with("scan")) {
    if (on.info().backend != "cpu" && !std::is_same_v<T, float>) continue;
    for (const registry::variant* v : registry::variants_of(registry::find_algorithm("scan"))) {
      if (v->peer || v->order != registry::claim::tilewise || v->device_backend() != on.info().backend) continue;
      const std::string id = v->id();
      for (const std::string_view variant : {std::string_view(), std::string_view(id)})
        for (const kind<T>& how : kinds_for<T>(op::sum))
          expect_one_call(values_of<T>(lab::data_class::wide, 3, 20'011), how, op::sum,
                          {.device = on, .variant = variant});
    }
  }
}

TEST(ScanOfFloatParts, LongerThanAPieceOfTheHostsCache) {
  const std::vector<float> x = wide_floats((std::uint64_t{5} << 20) + 77);
  for (const kind<float>& how : kinds_for<float>(op::sum)) expect_one_call(x, how, op::sum, {});
}

TEST(ScanOfFloatParts, OfArraysOnEveryDevice) {
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

TYPED_TEST(ScanOfParts, ScansContinueBeyond32BitPositions) {
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
        const std::uint64_t n = test_cover() == cover::few ? 500 : 10'000;
        const std::vector<T> x = values_of<T>(lab::data_class::wide, 1, n), y = inclusive_scan(x, {.carry = &carry});
        for (std::uint64_t i = 0; i < x.size(); ++i) {
          stack.push(x[i]);
          ASSERT_TRUE(same_bytes(y[i], order::canonical(stack.fold()))) << name_of(operation) << " " << begin + i;
        }
        ASSERT_EQ(carry.end(), begin + x.size());
      }
    });
}

/// Of the definition against the oracle, and of every variant against the definition.
TYPED_TEST(ScanOfParts, ContinueFromSpecialValues) {
  using T = TypeParam;
  const std::array<T, 64> values = special_values<T>();
  const registry::algorithm& what = registry::find_algorithm("scan");
  for (const device& on : devices_with("scan")) {
    const bool compiles = on.info().backend == "opencl";  // a program for each type and operator
    if (compiles && !std::is_same_v<T, float>) continue;
    for (registry::problem p : lab::problems_at(what, dtype_of<T>, {3}, 1)) {
      const op operation = static_cast<op>(p.setting[0]);
      registry::choose_setting(p, "carry", "given");
      if (compiles && operation != op::sum) continue;
      for (std::size_t i = 0; i < values.size() * values.size(); i += compiles ? 61 : 7) {
        const T before = values[i / values.size()], x = values[i % values.size()];
        const lab::verified_case c = lab::make_case(p, {bytes_of<T>({x, x, x}), bytes_of<T>({before, x})});
        const bool plain = p.setting[1] == 0 && p.setting[2] == 0;
        const T first = oracle(operation, before, x), last = order::canonical(x);
        if (plain) {
          ASSERT_EQ(std::memcmp(c.expected[0].data(), &first, sizeof first), 0) << to_string(p) << " " << i;
          ASSERT_EQ(std::memcmp(c.expected[0].data() + 2 * sizeof last, &last, sizeof last), 0) << i;
        }
        for (const registry::variant* v : registry::variants_of(what)) {
          const registry::tuning t = registry::default_tuning(v->tuning);
          if (v->peer || !registry::unsupported_reason(*v, p, on.implementation(), t).empty()) continue;
          ASSERT_TRUE(lab::verify(c, {v, t, ""}, on.implementation().queue()).ok)
              << v->id() << " " << to_string(p) << " " << i;
        }
      }
    }
  }
}

TEST(ScanOfFloatParts, RefusesWhatHasNoMeaningAndTouchesNothing) {
  std::vector<float> x = wide_floats(6000), y(6000, 42.0f);
  const std::vector<float> x_before = x, y_before = y;
  partial<float> carry(op::max), late(op::max, 5);
  constexpr std::uint64_t most = ~std::uint64_t{0};  // where a part may end
  partial<float> last(op::max, order::segment<float>{0, most - 9, {}});
  carry.push(3.0f);
  const std::array before{carry, late, last};
  const std::span<float> all(x);
  const auto refused = [&](auto call) {
    EXPECT_EQ(code_of(call), errc::invalid_argument);
    EXPECT_TRUE(same_bytes(before, std::array{carry, late, last})) << "the carry was touched";
    EXPECT_TRUE(same_bytes(x, x_before) && same_bytes(y, y_before)) << "memory was touched";
  };
  for (const std::uint64_t n : {10u, 6000u}) {
    const std::span<const float> in(x.data(), n);
    const std::span<float> out(y.data(), n);
    refused([&] { inclusive_scan(in, out, {.carry = &late}); });
    refused([&] { inclusive_scan(in, out, {.carry = &last}); });
    refused([&] { exclusive_scan(in, out, {.init = 0.0f, .carry = &last}); });
    refused([&] { inclusive_scan(in, out.first(n - 1), {.carry = &carry}); });
    refused([&] { inclusive_scan(in, out, {.op = op::product, .carry = &carry}); });
    refused([&] { exclusive_scan(in, out, {.carry = &carry}); });
    refused([&] { inclusive_scan(in, out, {.carry = &carry, .variant = "no_such"}); });
    refused([&] { inclusive_scan(in.first(n / 2), all.subspan(1, n / 2), {.carry = &carry}); });
    // The first pieces of these lie apart; the operands do not.
    refused([&] { inclusive_scan(all.first(n / 2), all.subspan(n / 2 - 1, n / 2), {.carry = &carry}); });
    refused(
        [&] { inclusive_scan(std::span<const float>(static_cast<const float*>(nullptr), n), out, {.carry = &carry}); });
    for (const device& on : devices()) {
      SCOPED_TRACE(on.name());
      const array<float> there = on.upload(in);
      array<float> to = on.upload(out), shorter = on.upload(out.first(n - 1));
      refused([&] { inclusive_scan(there, to, {.carry = &late}); });
      refused([&] { inclusive_scan(there, to, {.carry = &last}); });
      refused([&] { exclusive_scan(there, to, {.init = 0.0f, .carry = &last}); });
      refused([&] { inclusive_scan(there, shorter, {.carry = &carry}); });
      refused([&] { inclusive_scan(there, to, {.op = op::product, .carry = &carry}); });
      refused([&] { exclusive_scan(there, to, {.carry = &carry}); });
      refused([&] { inclusive_scan(there, to, {.carry = &carry, .variant = "no_such"}); });
      EXPECT_EQ(to.download(), std::vector<float>(n, 42.0f));
    }
  }
  inclusive_scan(all.first(9), std::span(y).first(9), {.carry = &last});
  EXPECT_EQ(last.end(), most);
}

/// Short pieces come first, since the order has them first; a long one is known not to be computed before.
TEST(ScanOfFloatParts, WhatAVariantComputesNotAllOfItComputesNothingOf) {
  registry::variant few =
      planted_peer("scan", "of_few",
                   [](const registry::problem&, const registry::bindings& where, const registry::tuning&,
                      backend::queue&) { *static_cast<float*>(where.out[0].base) = 7.0f; });
  few.unsupported = [](const registry::problem& p, const backend::device&, const registry::tuning&) {
    return std::string(p.n() > 100 ? "it stops at 100 elements" : "");
  };
  registry::add_peers({&few, 1});
  const std::vector<float> x = wide_floats(300);
  std::vector<float> y(300, 42.0f);
  partial<float> carry;
  carry.push(1.0f);
  const partial<float> before = carry;
  EXPECT_EQ(code_of([&] { inclusive_scan(x, y, {.carry = &carry, .variant = "of_few"}); }), errc::unsupported);
  EXPECT_EQ(y, std::vector<float>(300, 42.0f));
  EXPECT_TRUE(same_bytes(carry, before));
}

}  // namespace tilewise::tests
