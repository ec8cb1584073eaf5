// SPDX-License-Identifier: Apache-2.0
// Keys alone, which vectors sort: every number of them that fills blocks in part, and keys that deceive its pivots.
#include "backend/cpu/device.hpp"
#include "helpers.hpp"
#include "sort/cpu/vector_kernels.hpp"

#include <tilewise/sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace tilewise {
namespace {

template <class T>
void check(const std::vector<T>& keys) {
  std::vector<T> expected = keys;
  std::sort(expected.begin(), expected.end());
  for (auto level : backend::cpu::instruction_sets())
    for (unsigned threads : {1u, 3u}) {
      const std::string set(name_of(level));
      std::vector<T> out(keys.size());
      sort(keys, std::span<T>(out),
           {.device = open("cpu", {.threads = threads, .instruction_set = set}), .variant = "radix"});
      tests::expect_bits(out, expected, set + " of " + std::to_string(threads) + " threads");
    }
}

template <class T>
std::vector<T> random_keys(std::size_t n, T different) {
  std::mt19937_64 random(n);
  std::vector<T> keys(n);
  for (T& key : keys) key = static_cast<T>(random()) % different;
  return keys;
}

template <class T>
class SortVectors : public testing::Test {};
using key_types = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(SortVectors, key_types);

TYPED_TEST(SortVectors, EveryNumberOfKeysUpToSomeBlocks) {
  for (std::size_t n = 0; n < 600; n += tests::test_cover() == tests::cover::few ? 7 : 1)
    check(random_keys<TypeParam>(n, static_cast<TypeParam>(-1)));
}

TYPED_TEST(SortVectors, FewDifferentKeys) {
  for (std::size_t n : {300u, 5'000u, 40'000u, 70'001u})
    for (unsigned different : {1u, 2u, 3u, 7u, 300u}) check(random_keys<TypeParam>(n, different));
}

/// Where a pivot is looked for among n keys: at 3^depth places.
void add_places(std::size_t first, std::size_t n, int depth, std::set<std::size_t>& places) {
  if (depth == 0) {
    places.insert(first + n / 2);
    return;
  }
  for (std::size_t third = 0; third < 3; ++third) add_places(first + third * (n / 3), n / 3, depth - 1, places);
}

TYPED_TEST(SortVectors, KeysThatDeceiveTheirPivots) {
  // The least keys, then the largest, are where a sample looks; and most keys lie close together, so that the middle of
  // all values deceives as well.
  for (std::size_t n : {3'000u, 12'000u, 65'536u})
    for (bool least : {true, false}) {
      std::set<std::size_t> places;
      add_places(0, n, n < 4096 ? 2 : 3, places);
      std::vector<TypeParam> keys = random_keys<TypeParam>(n, static_cast<TypeParam>(1'000'000));
      for (TypeParam& key : keys) key += 1'000'000'000;
      TypeParam next = least ? 0 : static_cast<TypeParam>(-1);
      for (std::size_t place : places) keys[place] = least ? next++ : next--;
      check(keys);
    }
}

/// Parts of other sizes would be sorted rightly, too, but by one thread after another or not in parts at all.
TYPED_TEST(SortVectors, PartsHaveWhatTheirSplittersSay) {
  constexpr std::size_t n = 20'000, parts = 16;
  const std::vector<TypeParam> keys = random_keys<TypeParam>(n, static_cast<TypeParam>(-1));
  for (const bool descending : {false, true})
    for (auto level : backend::cpu::instruction_sets()) {
      const auto& kernels = impl::sort::vector_kernels_for<TypeParam>(level);
      if (kernels.part == nullptr) continue;
      const auto code = impl::sort::code_of<TypeParam>(descending);
      std::vector<TypeParam> codes, splitters, room(2 * n), parted(n);
      for (TypeParam key : keys) codes.push_back(code.encode(key));
      std::sort(codes.begin(), codes.end());
      for (std::size_t p = 1; p < parts; ++p) splitters.push_back(codes[p * n / parts]);
      std::vector<std::uint64_t> sizes(parts);
      kernels.part({keys.data(), n, code, splitters.data(), parts, room.data(), parted.data(), sizes.data()});
      EXPECT_EQ(sizes, std::vector<std::uint64_t>(parts, n / parts)) << name_of(level);
    }
}

}  // namespace
}  // namespace tilewise
