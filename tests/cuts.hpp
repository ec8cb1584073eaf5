// SPDX-License-Identifier: Apache-2.0
// Ways to cut an array into segments, and into parts for ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tilewise::tests {

/// Offsets whose lengths follow one another in turn, up to n.
inline std::vector<std::int64_t> in_turn(std::int64_t n, const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> all{0};
  for (std::size_t i = 0; all.back() < n; ++i) all.push_back(std::min(n, all.back() + lengths[i % lengths.size()]));
  return all;
}

/// Lengths around a run, a vector, a chunk, a tile; one, none, equal and very different ones.
inline const std::vector<std::vector<std::int64_t>> mixtures_of_lengths{
    {1},
    {3},
    {8},
    {16},
    {17},
    {100},
    {1000},
    {4095},
    {4096, 1},
    {4097, 0, 0},
    {5000, 7},
    {8192},
    {8193, 2},
    {65536, 65537},
    {131073, 1},
    {300'007, 0},
    {0, 1},
    {0, 0, 0, 40},
    {1, 10, 100, 1000, 10'000},
    {15, 16, 17, 31, 32, 33, 0, 255, 257},
    {1023, 1025, 2047, 2049, 4095, 4097},
};

/// Offsets that cut no 10 elements into segments, and what every algorithm says of them.
struct false_offsets {
  std::vector<std::int64_t> at;
  std::string says;
};
inline const std::vector<false_offsets> false_offsets_of_ten{
    {{}, "there are no offsets; for no segments pass one, which is 0"},
    {{0}, "there are 10 elements and no segments; pass the offsets 0, ..., 10"},
    {{1, 10}, "the first offset is 1; the first segment begins at 0"},
    {{-3, 10}, "the first offset is -3; the first segment begins at 0"},
    {{0, 4, 3, 10}, "the offsets fall from 4 to 3 at position 2; segment s is x[offsets[s]:offsets[s + 1]]"},
    {{0, 11, 10}, "the offsets fall from 11 to 10 at position 2; segment s is x[offsets[s]:offsets[s + 1]]"},
    {{0, std::numeric_limits<std::int64_t>::min(), 10},
     "the offsets fall from 0 to -9223372036854775808 at position 1; segment s is x[offsets[s]:offsets[s + 1]]"},
    {{0, 4, 9}, "the last offset is 9, but there are 10 elements; the last segment ends with the last element"},
};

/// Every way to cut n elements into at most n + 4 segments: a bit for each element and each cut between two segments.
inline std::vector<std::vector<std::int64_t>> all_cuts(std::int64_t n) {
  std::vector<std::vector<std::int64_t>> all;
  for (int cuts = 0; cuts < (1 << (n + 4)); ++cuts) {
    std::vector<std::int64_t> at{0};
    std::int64_t here = 0;
    for (int bit = 0; bit < n + 4; ++bit) {
      if ((cuts >> bit & 1) != 0)
        ++here;
      else
        at.push_back(here);
    }
    if (here == n && at.back() == n) all.push_back(at);
  }
  return all;
}

/// Ends of `count` parts of n elements; a quarter of the parts begin at 0, so that some ranks have no elements.
inline std::vector<std::int64_t> any_ends(std::size_t count, std::int64_t n, std::mt19937_64& random) {
  std::vector<std::int64_t> ends{n};
  while (ends.size() < count)
    ends.push_back(random() % 4 == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n + 1)));
  std::sort(ends.begin(), ends.end());
  return ends;
}

/// Cuts at, beside and between some of the parts' ends, and some anywhere; a few segments are empty.
inline std::vector<std::int64_t> any_cuts(const std::vector<std::int64_t>& ends, std::mt19937_64& random) {
  const std::int64_t n = ends.back();
  std::vector<std::int64_t> at{0, n};
  for (const std::int64_t end : ends)
    for (std::uint64_t some = random() % 3; some != 0; --some)
      at.push_back(std::clamp<std::int64_t>(end + static_cast<std::int64_t>(random() % 3) - 1, 0, n));
  for (std::uint64_t some = random() % 4; some != 0; --some)
    at.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n + 1)));
  std::sort(at.begin(), at.end());
  return at;
}

}  // namespace tilewise::tests
