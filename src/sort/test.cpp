// SPDX-License-Identifier: Apache-2.0
// What a sort must satisfy, judged by a comparison written out case by case that shares nothing with code.hpp.
// The variants' bits are also checked from the catalog.
#include "backend/cpu/device.hpp"
#include "helpers.hpp"
#include "registry/catalog.hpp"
#include "sort/code.hpp"
#include "special_values.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tilewise {
namespace {

using tests::bits_like;
using tests::code_of;
using tests::expect_bits;

template <class T>
bits_like<T> bits(T value) {
  return std::bit_cast<bits_like<T>>(value);
}

/// Numbers, -0.0 before +0.0; then NaNs: the positive by growing payload, the negative by shrinking payload.
template <class T>
bool comes_before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) && std::isnan(b)) {
      if (std::signbit(a) != std::signbit(b)) return std::signbit(b);
      return std::signbit(a) ? bits(b) < bits(a) : bits(a) < bits(b);
    }
    if (std::isnan(a) || std::isnan(b)) return std::isnan(b);
    if (a == b) return std::signbit(a) && !std::signbit(b);
  }
  return a < b;
}

template <class T>
std::vector<std::uint32_t> expected_indices(const std::vector<T>& keys, sort_order order) {
  std::vector<std::uint32_t> indices(keys.size());
  std::iota(indices.begin(), indices.end(), 0u);
  std::stable_sort(indices.begin(), indices.end(), [&](std::uint32_t a, std::uint32_t b) {
    return order == sort_order::ascending ? comes_before(keys[a], keys[b]) : comes_before(keys[b], keys[a]);
  });
  return indices;
}

/// A variant on a device of three threads and one instruction set.
struct way {
  std::string name;
  sort_options options;
};

std::vector<way> ways() {
  std::vector<way> all;
  for (auto level : backend::cpu::instruction_sets()) {
    const std::string set(name_of(level));
    const device on = open("cpu", {.threads = 3, .instruction_set = set});
    for (const registry::variant* v : registry::variants_of(registry::find_algorithm("sort")))
      if (v->device_backend() == "cpu" && !v->peer)
        all.push_back({v->id() + " " + set, {.device = on, .variant = v->name.empty() ? "sort/serial" : v->name}});
    all.push_back({"by digits " + set, {.device = on, .variant = "radix", .tuning = "keys=digits"}});
  }
  return all;
}

/// All forms of the call on host data, one way. Values are the indices of the input, so that any wrong move shows.
template <class T>
void check(const std::vector<T>& keys, const std::vector<std::uint32_t>& expected, const way& how) {
  const std::size_t n = keys.size();
  std::vector<T> sorted(n);
  for (std::size_t i = 0; i < n; ++i) sorted[i] = keys[expected[i]];

  std::vector<T> out(n), in_place = keys;
  sort(keys, std::span<T>(out), how.options);
  expect_bits(out, sorted, how.name);
  sort(in_place, how.options);
  expect_bits(in_place, sorted, how.name + " in place");

  std::vector<std::uint32_t> indices(n);
  argsort(keys, indices, how.options);
  expect_bits(indices, expected, how.name + " argsort");

  std::vector<std::uint64_t> values(n), wide(expected.begin(), expected.end());
  std::iota(values.begin(), values.end(), std::uint64_t{0});
  in_place = keys;
  sort_by_key(in_place, values, in_place, values, how.options);
  expect_bits(in_place, sorted, how.name + " by key");
  expect_bits(values, wide, how.name + " values");
}

template <class T>
void check_everywhere(const std::vector<T>& keys) {
  static const std::vector<way> all = [] {
    std::vector<way> those = ways();
    those.push_back({"sort/group on three ranks", {.device = open("3*cpu:serial")}});
    return those;
  }();
  for (sort_order order : {sort_order::ascending, sort_order::descending}) {
    const auto expected = expected_indices(keys, order);
    for (way how : all) {
      how.options.order = order;
      check(keys, expected, how);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class T>
std::vector<T> random_keys(std::size_t n, std::uint64_t seed = 1) {
  const std::vector<std::byte> bytes = lab::generate(lab::data_class::wide, seed, dtype_of<T>, n);
  std::vector<T> keys(n);
  if (n != 0) std::memcpy(keys.data(), bytes.data(), bytes.size());
  return keys;
}

/// The arrays that sorts are usually tried with.
template <class T>
std::vector<std::vector<T>> shapes(std::size_t n) {
  std::vector<T> random = random_keys<T>(n), ascending = random, few = random, organ_pipe = random, nearly = random;
  std::sort(ascending.begin(), ascending.end());
  const std::vector<T> descending(ascending.rbegin(), ascending.rend());
  for (std::size_t i = 0; i < n; ++i) few[i] = random[i * i % 7 % n];
  for (std::size_t i = 0; i < n; ++i) organ_pipe[i] = ascending[std::min(i, n - 1 - i)];
  nearly = ascending;
  if (n > 2) std::swap(nearly[n / 3], nearly[n / 2]);
  return {random, ascending, descending, few, organ_pipe, nearly, std::vector<T>(n, T(3))};
}

TEST(Sort, EveryShapeOfArrayEverywhere) {
  std::vector<std::size_t> sizes{0, 1, 2, 10, 16, 17, 100, 255, 256, 257, 1000, 5000};
  if (tests::test_cover() == tests::cover::few) sizes = {0, 1, 17, 257, 5000};
  for (const std::size_t n : sizes)
    for (const auto& keys : shapes<float>(n)) {
      check_everywhere(keys);
      if (HasFatalFailure()) return;
    }
}

TEST(Sort, ArraysOfManyTilesEverywhere) {
  // Three threads: several tiles for each; writes past the caches need larger arrays than a test has time for.
  for (const auto& keys : shapes<std::int64_t>(50'000)) {
    check_everywhere(keys);
    if (HasFatalFailure()) return;
  }
  check_everywhere(random_keys<double>(150'001));
  check_everywhere(random_keys<std::int32_t>(300'007));
}

TEST(Sort, AllHighHalvesOfFloats) {
  std::vector<float> plain, mixed;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const std::uint32_t shuffled = i * 40503u % 65536u;  // an odd factor: a permutation
    plain.push_back(std::bit_cast<float>(shuffled << 16));
    mixed.push_back(std::bit_cast<float>(shuffled << 16 | (i * 2654435761u >> 16)));
  }
  check_everywhere(plain);
  check_everywhere(mixed);
}

template <class T>
void check_pairs_of_special_values() {
  // One long array with all pairs as neighbours, and each pair alone.
  const auto special = tests::special_values<T>();
  std::vector<T> all;
  for (T a : special)
    for (T b : special) {
      all.insert(all.end(), {a, b});
      std::vector<T> pair{a, b};
      const bool swapped = comes_before(b, a);
      sort(pair);
      ASSERT_EQ(bits(pair[0]), bits(swapped ? b : a));
      ASSERT_EQ(bits(pair[1]), bits(swapped ? a : b));
    }
  check_everywhere(all);
}

TEST(Sort, PairsOfSpecialValues) {
  check_pairs_of_special_values<float>();
  check_pairs_of_special_values<double>();
  check_pairs_of_special_values<std::int32_t>();
  check_pairs_of_special_values<std::uint32_t>();
  check_pairs_of_special_values<std::int64_t>();
  check_pairs_of_special_values<std::uint64_t>();
}

/// So many random bits.
std::uint64_t draw(std::uint64_t& state, unsigned width) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> (64 - width);
}

TEST(Sort, KeysThatDeceiveASampleOfTheirDigits) {
  // Each digit looks random, but all are functions of one: half of the digits tell no more than one does. Low bits
  // that differ are what is left to sort; the last array deceives the sample in only one of many tiles.
  for (std::size_t n : {50'000u, 100'000u}) {
    std::vector<std::uint64_t> repeated(n), in_one_place(n);
    std::uint64_t random = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t state = draw(random, 64), high = (state >> 56) * 0x0101010101010000u,
                          low = state >> 40 & 0xffff;
      repeated[i] = high | low;
      in_one_place[i] = i > n / 2 && i < n / 2 + 3000 ? 0x8000000000000000u | low : state;
    }
    check_everywhere(repeated);
    check_everywhere(in_one_place);
  }
}

template <class T>
void check_uneven_buckets(std::size_t n) {
  constexpr unsigned all = 8 * sizeof(T);
  std::uint64_t random = 1;
  // A fifth of the keys in a bucket, which need no pass, one or more; then most, but none where a sample looks.
  for (unsigned low : {0u, 7u, 14u, all - 12}) {
    if (tests::test_cover() == tests::cover::few && low != 14) continue;
    std::vector<T> one_in_five(n), unsampled(n);
    for (std::size_t i = 0; i < n; ++i) {
      const T in_one = (T{1} << (all - 2)) + static_cast<T>(low == 0 ? 0 : draw(random, low));
      const T anywhere = static_cast<T>(draw(random, all)) | T{1} << (all - 1);
      one_in_five[i] = draw(random, 8) < 51 ? in_one : anywhere;
      unsampled[i] = i % 4 != 0 ? in_one : anywhere;
    }
    for (const auto& keys : {one_in_five, unsampled}) check_everywhere(keys);
  }
}

TEST(Sort, BucketsTooLargeForOneWorker) {
  check_uneven_buckets<std::uint32_t>(90'200);  // sampled at every 88th key
  check_uneven_buckets<std::uint64_t>(50'000);  // and at every 48th
}

TEST(Sort, BucketsWhoseLeadingBitsTellNothing) {
  // Few values of the bits behind those that make a bucket, but all of them occur; below them all differ.
  std::uint64_t random = 1;
  std::vector<std::uint64_t> keys(40'000);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t first = draw(random, 12), next = draw(random, i % 500 == 0 ? 20 : 1);
    keys[i] = first << 52 | next << 32 | draw(random, 32);
  }
  check_everywhere(keys);
}

TEST(Sort, FloatsOfFewExponents) {
  std::uint64_t random = 1;
  std::vector<float> near_one = random_keys<float>(50'000);
  std::vector<double> normal(near_one.size());
  for (std::size_t i = 0; i < near_one.size(); ++i) {
    if (i % 1000 != 0) near_one[i] = 1 + static_cast<float>(draw(random, 24)) * 0x1p-24f;
    for (int k = 0; k < 8; ++k) normal[i] += static_cast<double>(draw(random, 40)) * 0x1p-39 - 1;
  }
  check_everywhere(near_one);
  check_everywhere(normal);
}

TEST(Sort, PairsThatDifferBehindTheLeadingDigits) {
  // In pairs but for the first key, so that every border of two tiles lies in a pair; the larger one comes first.
  const auto pairs = [](std::uint64_t count, unsigned leading) {
    std::vector<std::uint64_t> keys{0};
    for (std::uint64_t low : {2u, 1u})
      for (std::uint64_t i = 1; i <= count; ++i) keys.push_back(i * 0x9e3779b1u << (64 - leading) | low);
    return keys;
  };
  check_everywhere(pairs(60'000, 24));
  check_everywhere(pairs(30'000, 32));
}

TEST(Sort, ShortKeysWithValuesOfFourBytes) {
  const std::vector<std::uint32_t> keys = random_keys<std::uint32_t>(70'000);
  const std::vector<float> values = tests::wide_floats(keys.size());
  const auto expected = expected_indices(keys, sort_order::ascending);
  for (const way& how : ways()) {
    std::vector<std::uint32_t> keys_out(keys.size());
    std::vector<float> values_out(keys.size());
    sort_by_key(keys, values, keys_out, values_out, how.options);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(keys_out[i], keys[expected[i]]) << how.name;
      ASSERT_EQ(bits(values_out[i]), bits(values[expected[i]])) << how.name;
    }
  }
}

TEST(Sort, ArraysOnADevice) {
  for (const way& how : ways()) {
    const device& on = *how.options.device;
    const std::vector<double> keys = random_keys<double>(5000);
    const auto expected = expected_indices(keys, sort_order::ascending);
    std::vector<double> sorted;
    for (std::uint32_t i : expected) sorted.push_back(keys[i]);

    const sort_options options{.variant = how.options.variant};
    const array<double> in = on.upload(keys);
    array<double> out = on.allocate<double>(keys.size());
    array<std::uint32_t> indices = on.allocate<std::uint32_t>(keys.size());
    sort(in, out, options);
    argsort(in, indices, options);
    expect_bits(out.download(), sorted, how.name);
    expect_bits(indices.download(), expected, how.name);

    std::vector<std::uint32_t> values(keys.size());
    std::iota(values.begin(), values.end(), 0u);
    array<double> both = on.upload(keys);
    array<std::uint32_t> moved = on.upload(values);
    sort_by_key(both, moved, both, moved, options);
    expect_bits(both.download(), sorted, how.name);
    expect_bits(moved.download(), expected, how.name);
  }
}

TEST(Sort, OutputPastTheCachesHasTheSameBitsAtEveryAlignment) {
  const std::uint64_t cache = open("cpu").info().cache;
  if (cache == 0 || cache > (std::uint64_t{64} << 20)) GTEST_SKIP() << "no small last-level cache";
  const std::size_t n = cache / sizeof(std::uint32_t) / 2 + 12345;
  const std::vector<std::uint32_t> keys = random_keys<std::uint32_t>(n);
  std::vector<std::uint32_t> sorted = keys, out(n + 4);
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t offset : {3u, 0u}) {
    std::fill(out.begin(), out.end(), 42u);
    sort(keys, std::span<std::uint32_t>(out).subspan(offset, n));
    ASSERT_TRUE(std::equal(sorted.begin(), sorted.end(), out.begin() + static_cast<std::ptrdiff_t>(offset)));
    for (std::size_t i = 0; i < offset; ++i) ASSERT_EQ(out[i], 42u);
    for (std::size_t i = offset + n; i < out.size(); ++i) ASSERT_EQ(out[i], 42u);
  }
  std::vector<std::uint32_t> in_place = keys;
  sort(in_place);
  ASSERT_TRUE(in_place == sorted);
}

template <class T>
void check_code() {
  const auto up = impl::sort::code_of<T>(false), down = impl::sort::code_of<T>(true);
  constexpr unsigned low_bits = 8 * sizeof(T) - 16;
  std::vector<T> keys;
  for (bits_like<T> high = 0; high < 65536; ++high)
    for (bits_like<T> low : {bits_like<T>(0), bits_like<T>(1), (bits_like<T>(1) << low_bits) - 1})
      keys.push_back(std::bit_cast<T>(high << low_bits | low));
  for (T key : keys) {
    ASSERT_EQ(up.decode(up.encode(bits(key))), bits(key));
    ASSERT_EQ(down.decode(down.encode(bits(key))), bits(key));
  }
  std::sort(keys.begin(), keys.end(), comes_before<T>);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    ASSERT_LT(up.encode(bits(keys[i - 1])), up.encode(bits(keys[i]))) << keys[i - 1] << " " << keys[i];
    ASSERT_GT(down.encode(bits(keys[i - 1])), down.encode(bits(keys[i]))) << keys[i - 1] << " " << keys[i];
  }
}

TEST(SortCode, IsABijectionThatKeepsTheOrder) {
  check_code<float>();
  check_code<double>();
  check_code<std::int32_t>();
  check_code<std::int64_t>();
  check_code<std::uint32_t>();
  check_code<std::uint64_t>();
}

TEST(Sort, BadSizesAndOverlapsAreRefusedAndTouchNothing) {
  std::vector<float> x = tests::wide_floats(100);
  const std::vector<float> before = x;
  const std::span<float> all(x);
  const std::span<const float> half = all.first(50);
  std::vector<float> short_out(49, 1.0f), values(50), out(50);
  std::vector<std::uint32_t> indices(49);
  const auto refused = [](const auto& call) { EXPECT_EQ(code_of(call), errc::invalid_argument); };
  refused([&] { tilewise::sort(half, short_out); });
  refused([&] { argsort(half, indices); });
  refused([&] { sort_by_key(half, std::span<const float>(values).first(49), out, values); });
  refused([&] { sort_by_key(half, values, out, short_out); });
  refused([&] { sort_by_key(half, values, short_out, values); });
  refused([&] { tilewise::sort(half, all.subspan(1, 50)); });
  refused([&] { tilewise::sort(all.subspan(49, 50), all.first(50)); });
  refused([&] { sort_by_key(half, values, values, out); });
  refused([&] { sort_by_key(half, values, out, out); });
  refused([&] { argsort(half, std::span(reinterpret_cast<std::uint32_t*>(x.data()), 50)); });
  refused([&] { tilewise::sort(half, out, {.variant = "bubble"}); });
  EXPECT_EQ(x, before);
  EXPECT_EQ(short_out, std::vector<float>(49, 1.0f));
  tilewise::sort(half, all.subspan(50));  // side by side is fine
}

TEST(Sort, NothingBesideTheOutputIsWritten) {
  for (std::size_t n : {1u, 17u, 257u, 1000u, 40'001u})
    for (std::size_t offset : {1u, 3u})
      for (const way& how : ways()) {
        const std::vector<float> x = tests::wide_floats(n);
        std::vector<float> y(n + 64, 42.0f);
        sort(x, std::span<float>(y).subspan(offset, n), how.options);
        for (std::size_t i = 0; i < offset; ++i) ASSERT_EQ(y[i], 42.0f);
        for (std::size_t i = offset + n; i < y.size(); ++i) ASSERT_EQ(y[i], 42.0f) << how.name << " " << n;
      }
}

}  // namespace
}  // namespace tilewise
