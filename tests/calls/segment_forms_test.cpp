// SPDX-License-Identifier: Apache-2.0
// Every form in which algorithms on segments may be called.
#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

#include <span>

namespace tilewise::tests {
namespace {

namespace tw = tilewise;

const std::vector<float> x{3, 1, 4, 1, 5, 9};
const std::vector<std::int64_t> offsets{0, 2, 2, 6};

TEST(CallForms, FoldsOfSegments) {
  const device on = open("cpu");
  const array<float> there = on.upload(x);
  const array<std::int64_t> offsets_there = on.upload(offsets);
  const std::vector<float> sums = tw::segment_reduce(x, offsets);
  EXPECT_EQ(sums, (std::vector<float>{tw::reduce(std::span(x).first(2)), 0, tw::reduce(std::span(x).subspan(2))}));
  EXPECT_EQ(tw::segment_reduce(there, offsets_there).download(), sums);
  std::vector<float> to(3);
  tw::segment_reduce(x, std::span(offsets), std::span(to), {.init = 1.0f});
  EXPECT_EQ(to[1], 1);
  array<float> values = on.allocate<float>(3);
  tw::segment_reduce(there, offsets_there, values, {.init = 1.0f});
  EXPECT_EQ(values.download(), to);
  std::vector<float> prefixes = tw::segment_scan(x, offsets);
  EXPECT_EQ(std::pair(prefixes[1], prefixes.back()), std::pair(sums[0], sums[2]));
  EXPECT_EQ(tw::segment_scan(there, offsets_there).download(), prefixes);
  tw::segment_scan(x, std::span(offsets), std::span(prefixes), {.exclusive = true, .init = 1.0f});
  EXPECT_EQ(prefixes[2], 1);
  array<float> prefixes_there = on.allocate<float>(x.size());
  tw::segment_scan(there, offsets_there, prefixes_there, {.exclusive = true, .init = 1.0f});
  EXPECT_EQ(prefixes_there.download(), prefixes);
  std::vector<double> both{0, 1};  // offsets and values in one memory
  EXPECT_THROW(tw::segment_reduce(both, std::span(reinterpret_cast<const std::int64_t*>(both.data()), 2),
                                  std::span(both).first(1)),
               error);
}

TEST(CallForms, SortsOfSegments) {
  const device on = open("cpu");
  const array<float> there = on.upload(x);
  const array<std::int64_t> offsets_there = on.upload(offsets);
  const sort_options falling{.order = sort_order::descending};
  const std::vector<float> sorted_ones{3, 1, 9, 5, 4, 1};
  EXPECT_EQ(tw::segment_sort(x, offsets, falling), sorted_ones);
  EXPECT_EQ(tw::segment_sort(there, offsets_there, falling).download(), sorted_ones);
  std::vector<float> in_place = x;
  tw::segment_sort(in_place, std::span(offsets), std::span(in_place), falling);
  EXPECT_EQ(in_place, sorted_ones);
  const std::vector<std::uint32_t> places{0, 1, 3, 2, 0, 1};
  EXPECT_EQ(tw::segment_argsort(x, offsets, falling), places);
  EXPECT_EQ(tw::segment_argsort(there, offsets_there, falling).download(), places);
  std::vector<float> keys = x;
  std::vector<std::int64_t> carried{0, 1, 2, 3, 4, 5};
  tw::segment_sort_by_key(keys, carried, offsets, keys, std::span(carried), falling);
  EXPECT_EQ(keys, sorted_ones);
  EXPECT_EQ(carried, (std::vector<std::int64_t>{0, 1, 5, 4, 2, 3}));
  array<float> keys_there = on.allocate<float>(x.size());
  array<std::int64_t> carried_there = on.upload(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  tw::segment_sort_by_key(there, carried_there, offsets_there, keys_there, carried_there, falling);
  EXPECT_EQ(carried_there.download(), carried);
  std::vector<std::int64_t> two{0, 4};  // the indices would take the offsets' place
  EXPECT_THROW(
      tw::segment_argsort(std::span(x).first(4), two, std::span(reinterpret_cast<std::uint32_t*>(two.data()), 4)),
      error);
  EXPECT_EQ(two, (std::vector<std::int64_t>{0, 4}));
}

}  // namespace
}  // namespace tilewise::tests
