// SPDX-License-Identifier: Apache-2.0
// Sorts of what is in order already, in the opposite order, or almost: the definition's bits, and equal keys stay in
// theirs.
#include "helpers.hpp"
#include "parts.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>
#include <numeric>

namespace tilewise {
namespace {

using tests::expect_bits;

/// Ascending and with NaNs of both signs, if there are any; `kinds` different keys, or all that there are.
template <class T>
std::vector<T> ordered(std::size_t n, std::size_t kinds, bool falls) {
  std::vector<T> keys = tests::values_of<T>(lab::data_class::nan, 3, std::min(n, kinds));
  keys.resize(n);
  for (std::size_t i = kinds; i < n; ++i) keys[i] = keys[i % kinds];
  sort(std::vector<T>(keys), std::span<T>(keys), {.variant = "serial"});
  if (falls) std::reverse(keys.begin(), keys.end());
  return keys;
}

template <class T>
void expect_sorts(const std::vector<T>& keys, sort_order order, const std::string& what) {
  SCOPED_TRACE(what);
  const device cpu = open("cpu:threads", {.threads = 3});
  std::vector<std::uint32_t> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), 7u);
  std::vector<T> defined = keys, out(keys.size()), in_place = keys;
  std::vector<std::uint32_t> defined_numbers = numbers, out_numbers(numbers.size());
  sort_by_key(defined, defined_numbers, defined, defined_numbers, {.order = order, .variant = "serial"});
  sort(keys, std::span<T>(out), {.order = order, .device = cpu});
  expect_bits(out, defined, "keys");
  sort(in_place, {.order = order, .device = cpu});
  expect_bits(in_place, defined, "keys in place");
  sort_by_key(keys, numbers, out, out_numbers, {.order = order, .device = cpu});
  EXPECT_EQ(out_numbers, defined_numbers);
  const std::vector<std::uint32_t> indices = argsort(keys, {.order = order, .device = cpu});
  std::vector<std::uint32_t> defined_indices = defined_numbers;
  for (std::uint32_t& index : defined_indices) index -= 7;
  EXPECT_EQ(indices, defined_indices);
  in_place = keys;
  sort_by_key(in_place, numbers, in_place, numbers, {.order = order, .device = cpu});
  expect_bits(in_place, defined, "keys with values in place");
  EXPECT_EQ(numbers, defined_numbers);
}

template <class T>
struct SortOfOrdered : testing::Test {};
TYPED_TEST_SUITE(SortOfOrdered, tests::element_types);

TYPED_TEST(SortOfOrdered, HasTheDefinitionsBits) {
  using T = TypeParam;
  for (const std::size_t n : {257u, 4097u, 70001u})
    for (const std::size_t kinds : {std::size_t{1}, std::size_t{5}, n})
      for (const bool falls : {false, true})
        for (const sort_order order : {sort_order::ascending, sort_order::descending}) {
          const std::string what = std::to_string(n) + " of " + std::to_string(kinds) + (falls ? " falling" : "");
          std::vector<T> keys = ordered<T>(n, kinds, falls);
          expect_sorts(keys, order, what);
          for (const std::size_t at : {n - 2, std::size_t{63}, std::size_t{32767} % (n - 1)}) {
            std::swap(keys[at], keys[at + 1]);
            expect_sorts(keys, order, what + ", two exchanged at " + std::to_string(at));
            std::swap(keys[at], keys[at + 1]);
          }
        }
}

}  // namespace
}  // namespace tilewise
