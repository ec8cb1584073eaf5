// SPDX-License-Identifier: Apache-2.0
// Sorts of so few keys that a plain call hands them to a kernel at once: the definition's bits, in both orders.
#include "helpers.hpp"
#include "lab/verify/generate.hpp"
#include "parts.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>
#include <cstring>

namespace tilewise {
namespace {

using tests::expect_bits;

template <class T>
struct SortOfFew : testing::Test {};
TYPED_TEST_SUITE(SortOfFew, tests::element_types);

TYPED_TEST(SortOfFew, APlainCallHasTheDefinitionsBits) {
  using T = TypeParam;
  for (const std::size_t n : {1u, 2u, 7u, 16u, 17u, 33u, 64u, 100u, 255u, 256u, 257u})
    for (const sort_order order : {sort_order::ascending, sort_order::descending}) {
      const std::vector<std::byte> bytes = lab::generate(lab::data_class::wide, n, dtype_of<T>, n);
      std::vector<T> keys(n), out(n), defined(n);
      std::memcpy(keys.data(), bytes.data(), bytes.size());
      sort(keys, std::span<T>(defined), {.order = order, .variant = "serial"});
      sort(keys, std::span<T>(out), {.order = order});
      expect_bits(out, defined, std::to_string(n) + " keys");
      sort(keys, {.order = order});
      expect_bits(keys, defined, std::to_string(n) + " keys in place");
    }
}

}  // namespace
}  // namespace tilewise
