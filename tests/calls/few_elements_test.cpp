// SPDX-License-Identifier: Apache-2.0
// Calls of few elements allocate no memory once the first calls have set up what all calls share.
#include "faults/failing_allocations.hpp"

#include <tilewise/tilewise.hpp>

#include <array>
#include <functional>
#include <string_view>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace {

template <class T>
struct operands {
  std::array<T, 64> a{}, b{};
  std::array<T, 256> out{};

  operands() {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(i * 37 % 64), b[i] = static_cast<T>(i * 11 % 64);
  }
  std::span<const T> in(std::size_t count) const { return std::span(a).first(count); }
  std::span<const T> other(std::size_t count) const { return std::span(b).first(count); }
  std::span<T> result(std::size_t count) { return std::span(out).first(count); }
};

/// Checks that `call` succeeds when no memory can be allocated, as it has succeeded twice before.
void expect_no_allocation(std::string_view name, const std::function<void()>& call) {
  call(), call();
  allocations_left = 0;
  try {
    call();
    allocations_left = -1;
  } catch (const error& e) {
    allocations_left = -1;
    ADD_FAILURE() << name << ": " << e.what();
  }
}

const matrix_layout square(4, 4);

}  // namespace

TEST(FewElements, OfOneDimensionAllocateNothing) {
  operands<double> of;
  operands<std::int64_t> integers;
  expect_no_allocation("reduce", [&] { of.out[0] = reduce(of.in(16)); });
  expect_no_allocation("dot", [&] { of.out[0] = dot(of.in(16), of.other(16)); });
  expect_no_allocation("scan", [&] { inclusive_scan(of.in(16), of.result(16)); });
  expect_no_allocation("sort", [&] { tilewise::sort(of.in(16), of.result(16)); });
  expect_no_allocation("sort_by_key",
                       [&] { sort_by_key(of.in(16), integers.in(16), of.result(16), integers.result(16)); });
  expect_no_allocation("polymul f64", [&] { polymul(of.in(16), of.other(16), of.result(31)); });
}

TEST(FewElements, OfMatricesAllocateNothing) {
  operands<double> of;
  expect_no_allocation("matvec", [&] { matvec(of.in(16), square, of.other(4), of.result(4)); });
  expect_no_allocation("matmul", [&] { matmul(of.in(16), square, of.other(16), square, of.result(16), square); });
  expect_no_allocation("convolve", [&] { convolve(of.in(64), {8, 8}, of.other(9), {3, 3}, of.result(36)); });
  expect_no_allocation("diffuse", [&] { diffuse(of.in(64), of.result(64), {.rows = 8, .columns = 8}); });
  for (const axis which : {axis::rows, axis::columns}) {
    expect_no_allocation("reduce_axis", [&] { reduce(along(of.in(16), square, which), of.result(4)); });
    expect_no_allocation("scan_axis",
                         [&] { inclusive_scan(along(of.in(16), square, which), along(of.result(16), square, which)); });
    expect_no_allocation("sort_axis",
                         [&] { tilewise::sort(along(of.in(16), square, which), along(of.result(16), square, which)); });
  }
}

}  // namespace tilewise::tests
