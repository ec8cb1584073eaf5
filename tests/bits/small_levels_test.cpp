// SPDX-License-Identifier: Apache-2.0
// Plain calls of few elements directly use the kernels of the best instruction set. These tests run those of all
// instruction sets of this machine. Calls through a device use other kernels; the bit tests run these at each level.
#include "backend/cpu/device.hpp"
#include "matvec/cpu/kernels.hpp"
#include "order/operators.hpp"
#include "parts.hpp"
#include "reduce/cpu/kernels.hpp"
#include "scan/cpu/kernels.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace {

using backend::cpu::instruction_set;
using backend::cpu::instruction_sets;

/// Other associations have other bits.
template <class T>
constexpr lab::data_class telling_of = std::is_integral_v<T> ? lab::data_class::uniform : lab::data_class::wide;

std::string words(instruction_set level, op operation, std::uint64_t n) {
  return std::string(name_of(level)) + ", " + std::string(name_of(operation)) + " of " + std::to_string(n);
}

template <class T>
void check_reductions(instruction_set level, op operation, const std::vector<T>& x) {
  const auto& small = *impl::reduce::kernels_for<T>(level, operation).small;
  const T init = x[x.size() / 2];
  const std::vector<T> got{small(x.data(), x.size(), nullptr), small(x.data(), x.size(), &init)};
  const std::vector<T> expected{reduce(x, {.op = operation, .variant = "serial"}),
                                reduce(x, {.op = operation, .init = init, .variant = "serial"})};
  expect_bits(got, expected, words(level, operation, x.size()));
}

template <class T>
void check_scans(instruction_set level, op operation, const std::vector<T>& x) {
  const auto& small = *impl::scan::kernels_for<T>(level, operation).small;
  std::vector<T> got(x.size()), expected(x.size());
  small(x.data(), got.data(), x.size(), nullptr, true);
  inclusive_scan(x, expected, {.op = operation, .variant = "serial"});
  expect_bits(got, expected, words(level, operation, x.size()));
  small(x.data(), got.data(), x.size(), &x[0], false);
  exclusive_scan(x, expected, {.op = operation, .init = x[0], .variant = "serial"});
  expect_bits(got, expected, words(level, operation, x.size()) + ", exclusive");
}

template <class T>
void check_dot_products(instruction_set level, const std::vector<T>& x, const std::vector<T>& y) {
  using element = order::wrapping_t<T>;
  const auto* const a = reinterpret_cast<const element*>(x.data());
  const auto* const b = reinterpret_cast<const element*>(y.data());
  const element got = impl::matvec::kernels_for<element>(level).dot(a, b, x.size());
  expect_bits(std::vector<T>{static_cast<T>(got)}, {dot(x, y, {.variant = "serial"})},
              words(level, op::product, x.size()));
}

template <class T>
class SmallLevels : public testing::Test {};
using element_types = testing::Types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(SmallLevels, element_types);

}  // namespace

TYPED_TEST(SmallLevels, HaveTheDefinitionsBits) {
  for (std::uint64_t n = 1; n <= impl::reduce::small_limit; n += n < 160 ? 1 : 131) {
    const std::vector<TypeParam> x = values_of<TypeParam>(telling_of<TypeParam>, n, n),
                                 y = values_of<TypeParam>(telling_of<TypeParam>, n + 1, n);
    for (const instruction_set level : instruction_sets()) {
      for (const op operation : all_ops) {
        check_reductions(level, operation, x);
        check_scans(level, operation, x);
      }
      check_dot_products(level, x, y);
    }
  }
}

}  // namespace tilewise::tests
