// SPDX-License-Identifier: Apache-2.0
// What the tests of parts of a longer array share: suitable values, random cuts, comparison of bytes.
#pragma once

#include "helpers.hpp"

#include <cstring>
#include <random>

namespace tilewise::tests {

inline constexpr std::uint64_t two33 = std::uint64_t{1} << 33;
/// On the first four, another order gives other bits. The others have NaNs with all payloads, and zeros of both signs.
inline constexpr std::array telling{lab::data_class::uniform,    lab::data_class::wide, lab::data_class::near_one,
                                    lab::data_class::cancelling, lab::data_class::nan,  lab::data_class::zeros};

template <class T>
std::vector<T> values_of(lab::data_class data, std::uint64_t seed, std::uint64_t n) {
  std::vector<T> values(n);
  lab::generate(data, seed, dtype_of<T>, 0, n, values.data());
  return values;
}

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// The same numbers in every run.
inline std::mt19937_64 random_numbers(5);

/// The ends of parts that together are [0, n); some parts are empty.
inline std::vector<std::uint64_t> random_ends(std::uint64_t n, std::size_t parts) {
  std::vector<std::uint64_t> ends{n};
  while (ends.size() < parts) ends.push_back(random_numbers() % (n + 1));
  std::sort(ends.begin(), ends.end());
  return ends;
}

/// All element types, for a typed test suite.
using element_types = ::testing::Types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

}  // namespace tilewise::tests
