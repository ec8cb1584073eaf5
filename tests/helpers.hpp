// SPDX-License-Identifier: Apache-2.0
// What several test files share: floats whose sums show the order, and checks of what a call throws.
#pragma once

#include "lab/verify/generate.hpp"
#include "registry/catalog.hpp"

#include <tilewise/device.hpp>
#include <tilewise/error.hpp>

#include <algorithm>

#include <cstdlib>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tilewise::tests {

/// How many of the possible cases are tested, set by TILEWISE_TEST_COVER.
enum class cover : std::uint8_t {
  few,    // one case of each kind; under the sanitizers each takes ten times as long
  pairs,  // the default: every pair of values of any two axes
  all     // thousands of random cases, and every OpenCL program
};
inline cover test_cover() {
  const char* text = std::getenv("TILEWISE_TEST_COVER");
  const std::string_view word = text == nullptr ? "pairs" : text;
  if (word == "few") return cover::few;
  if (word == "pairs") return cover::pairs;
  if (word == "all") return cover::all;
  throw std::invalid_argument("TILEWISE_TEST_COVER is '" + std::string(word) + "'; it takes few, pairs or all");
}

/// Floats with a wide range of exponents: adding them in another order gives other bits.
inline std::vector<float> wide_floats(std::uint64_t n, std::uint64_t seed = 1) {
  const std::vector<std::byte> bytes = lab::generate(lab::data_class::wide, seed, dtype::f32, n);
  std::vector<float> values(n);
  if (n != 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The devices that compute an algorithm. Not every backend has all algorithms.
inline std::vector<device> devices_with(std::string_view algorithm) {
  const auto variants = registry::variants_of(registry::find_algorithm(algorithm));
  std::vector<device> all = devices();
  std::erase_if(all, [&](const device& on) {
    return std::none_of(variants.begin(), variants.end(), [&](const registry::variant* v) {
      return !v->peer && v->device_backend() == on.info().backend;
    });
  });
  return all;
}

/// The message of the tilewise::error that `call` throws. The test fails if it throws nothing or an error with another
/// code.
template <class Call>
std::string message_of(errc expected, const Call& call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), expected) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

/// The code of the tilewise::error that `call` throws, which must also have a message.
template <class Call>
errc code_of(const Call& call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_GT(std::strlen(e.what()), 20u) << e.what();
    return e.code();
  }
  ADD_FAILURE() << "no error was thrown";
  return errc::io;
}

/// Checks that values are equal bit for bit. It is one check for all values, since millions of checks would take longer
/// than the code under test.
template <class T>
void expect_bits(const std::vector<T>& got, const std::vector<T>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  if (got.empty() || std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)) == 0) return;
  const auto same = [](const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; };
  const auto first = std::mismatch(got.begin(), got.end(), expected.begin(), same);
  FAIL() << what << ": element " << first.first - got.begin() << " of " << got.size() << " is " << *first.first
         << " instead of " << *first.second;
}

/// Faster than ==, which compares std::byte one by one.
inline bool same_bytes(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// Bytes of an operand.
template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

}  // namespace tilewise::tests
