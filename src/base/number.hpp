// SPDX-License-Identifier: Apache-2.0
// A value of any element type, and its conversion from and to text: shortest round-trip numbers, or bits in hex. The
// locale has no influence.
#pragma once

#include <tilewise/types.hpp>

#include <cstring>
#include <string>
#include <string_view>

namespace tilewise::base {

/// A value of any element type, stored as bits so that NaN payloads and 64-bit integers are exact.
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

/// The lowest 4 * count bits as `count` hexadecimal digits: "3dcccccd".
std::string hex_digits(std::uint64_t bits, std::size_t count);

/// The value's bits as 8 or 16 hexadecimal digits: "0x3dcccccd".
std::string to_hex(const scalar_value& value);

/// Parses a number of the type: an integer in range, a float, which is rounded to nearest, "nan", "inf" or "-inf".
/// Throws `invalid_argument` for other text, and for a float beyond the type's range.
scalar_value parse_number(std::string_view text, dtype type);

}  // namespace tilewise::base
