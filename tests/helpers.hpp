// What several test files share: floats for which the order shows, and what a call throws.
#pragma once

#include "lab/generate.hpp"
#include "registry/catalog.hpp"

#include <tilewise/device.hpp>
#include <tilewise/error.hpp>

#include <algorithm>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tilewise::tests {

/// How many of the random cases are tried: 1, or what TILEWISE_TEST_FACTOR says, as under the sanitizers.
inline double test_factor() {
  const char* text = std::getenv("TILEWISE_TEST_FACTOR");
  return text == nullptr ? 1 : std::atof(text);
}

/// Floats of wide exponents: another association gives other bits.
inline std::vector<float> wide_floats(std::uint64_t n, std::uint64_t seed = 1) {
  const std::vector<std::byte> bytes = lab::generate(lab::data_class::wide, seed, dtype::f32, n);
  std::vector<float> values(n);
  if (n != 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The devices that compute an algorithm: a backend need not have all of them.
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

/// The message of the tilewise::error that `call` throws; fails if it throws none or one of another code.
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

/// The code of the tilewise::error that `call` throws, which must come with a sentence.
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

}  // namespace tilewise::tests
