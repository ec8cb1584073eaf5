// SPDX-License-Identifier: Apache-2.0
// One value of any element type, by its bits and as text: shortest round-trip numbers, bits in hex, and the way back.
// No locale anywhere.
#pragma once

#include <tilewise/types.hpp>

#include <cstring>
#include <string>
#include <string_view>

namespace tilewise::base {

/// One value of any element type, kept by its bits so that NaN payloads and 64-bit integers survive.
struct scalar_value {
  dtype type = dtype::f32;
  std::uint64_t bits = 0;

  template <scalar T>
  static scalar_value of(T value) {
    scalar_value s{dtype_of<T>, 0};
    std::memcpy(&s.bits, &value, sizeof value);
    return s;
  }
  template <scalar T>
  T as() const {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  bool operator==(const scalar_value&) const = default;
};

/// The shortest text that reads back as the same value: "0.1", "-0", "18446744073709551615", "nan", "-inf".
std::string to_string(const scalar_value& value);

/// The lowest 4 * count bits: "3dcccccd".
std::string hex_digits(std::uint64_t bits, std::size_t count);

/// The value's bits: "0x3dcccccd", 8 or 16 digits.
std::string to_hex(const scalar_value& value);

/// A number of the type: integers in range, floats rounded to nearest, "nan", "inf" and "-inf". Throws
/// `invalid_argument` for anything else, and for a float beyond the type's range.
scalar_value parse_number(std::string_view text, dtype type);

}  // namespace tilewise::base
