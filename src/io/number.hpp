// One value as text: shortest round-trip numbers, bits in hex, and the way back. No locale anywhere.
#pragma once

#include "registry/problem.hpp"

#include <string>
#include <string_view>

namespace tilewise::io {

/// The shortest text that reads back as the same value: "0.1", "-0", "18446744073709551615", "nan", "-inf".
inline std::string to_text(const registry::scalar_value& value) { return to_string(value); }

/// The lowest 4 * count bits: "3dcccccd".
std::string hex_digits(std::uint64_t bits, std::size_t count);

/// The value's bits: "0x3dcccccd", 8 or 16 digits.
std::string to_hex(const registry::scalar_value& value);

/// A number of the type: integers in range, floats rounded to nearest, "nan", "inf" and "-inf". Throws
/// `invalid_argument` for anything else, and for a float beyond the type's range.
registry::scalar_value parse_number(std::string_view text, dtype type);

}  // namespace tilewise::io
