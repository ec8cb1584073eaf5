// SPDX-License-Identifier: Apache-2.0
// OpenCL's sort by the digits that tell keys apart: keys for which its plan holds, and keys for which it does not.
#include "opencl_fixture.hpp"

#include <algorithm>
#include <numeric>

namespace tilewise::tests {
namespace {

using SortOpencl = opencl_device_test;

std::uint64_t draw(std::uint64_t& state, unsigned bits) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> (64 - bits);
}

/// Keys of which `plan` gets the digit lists: which of them are sorted is decided by how keys are spread.
std::vector<std::pair<const char*, std::vector<std::uint64_t>>> keys_for_plans(std::size_t n) {
  std::uint64_t random = 1;
  const auto make = [&](const auto& key_at) {
    std::vector<std::uint64_t> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = key_at(i);
    return keys;
  };
  return {
      {"random", make([&](std::size_t) { return draw(random, 64); })},
      {"sorted", make([&](std::size_t i) { return i << 40 | i; })},
      {"pairs behind three digits", make([&](std::size_t i) { return (i % (n / 2) * 0x9e3779b1u) << 40 | (n - i); })},
      // Each digit of the leading six is random, but all are the same: nothing but the lower ones tells keys apart.
      {"repeated digits", make([&](std::size_t) { return draw(random, 8) * 0x0101010101010000u | draw(random, 16); })},
      {"many in one place", make([&](std::size_t i) {
         return i > n / 2 && i < n / 2 + 100 ? 0x8000000000000000u | draw(random, 16) : draw(random, 64);
       })},
      {"constant leading digits", make([&](std::size_t) { return 0x1234u * (1ull << 48) | draw(random, 48); })},
      {"constant digits between", make([&](std::size_t) { return draw(random, 8) << 56 | draw(random, 8) << 8; })},
      {"equal", make([](std::size_t) { return std::uint64_t{42}; })},
      {"one other key", make([&](std::size_t i) { return i == n / 3 ? 41u << 24 : 42u << 24; })},
  };
}

TEST_F(SortOpencl, ByThePlannedDigitsOrByAllOfThem) {
  const std::size_t n = 5000;
  for (const auto& [name, keys] : keys_for_plans(n))
    for (sort_order order : {sort_order::ascending, sort_order::descending}) {
      const sort_options options{
          .order = order, .device = open("opencl:0"), .variant = "onesweep", .tuning = "rows=8 digits=planned"};
      std::vector<std::uint32_t> expected(n), indices(n);
      std::iota(expected.begin(), expected.end(), 0u);
      std::stable_sort(expected.begin(), expected.end(), [&, k = std::cref(keys)](std::uint32_t a, std::uint32_t b) {
        return order == sort_order::ascending ? k.get()[a] < k.get()[b] : k.get()[b] < k.get()[a];
      });
      std::vector<std::uint64_t> sorted(n), out(n), in_place = keys, values(n), moved(expected.begin(), expected.end());
      for (std::size_t i = 0; i < n; ++i) sorted[i] = keys[expected[i]];
      sort(keys, std::span(out), options);
      expect_bits(out, sorted, name);
      argsort(keys, indices, options);
      expect_bits(indices, expected, std::string(name) + ", argsort");
      std::iota(values.begin(), values.end(), std::uint64_t{0});
      sort_by_key(in_place, values, in_place, values, options);
      expect_bits(in_place, sorted, std::string(name) + ", in place");
      expect_bits(values, moved, std::string(name) + ", values in place");
    }
}

/// With an odd number of passes and an even one, which begin elsewhere.
TEST_F(SortOpencl, KeysOrValuesMayStayInTheirPlace) {
  const tilewise::device on = open("opencl:0");
  for (const std::size_t n : {1u, 2u, 300u, 5000u, 9000u}) {
    std::uint64_t random = n;
    std::vector<std::uint32_t> keys(n), values(n), expected_keys(n), expected_values(n);
    for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(draw(random, 10));
    std::iota(values.begin(), values.end(), 7u);
    sort_by_key(keys, values, expected_keys, expected_values);
    for (const char* variant : {"radix", "merge_path", "merge_rank", "onesweep"})
      for (const auto& [keys_stay, values_stay] :
           {std::pair(false, false), {false, true}, {true, false}, {true, true}}) {
        array<std::uint32_t> k = on.upload(keys), v = on.upload(values), other_k = on.allocate<std::uint32_t>(n),
                             other_v = on.allocate<std::uint32_t>(n);
        array<std::uint32_t>&to_k = keys_stay ? k : other_k, &to_v = values_stay ? v : other_v;
        sort_by_key(k, v, to_k, to_v, {.variant = variant});
        const std::string what = std::string(variant) + " of " + std::to_string(n) + (keys_stay ? ", keys stay" : "") +
                                 (values_stay ? ", values stay" : "");
        expect_bits(to_k.download(), expected_keys, what);
        expect_bits(to_v.download(), expected_values, what);
        if (!keys_stay) expect_bits(k.download(), keys, what);
        if (!values_stay) expect_bits(v.download(), values, what);
      }
  }
}

}  // namespace
}  // namespace tilewise::tests
