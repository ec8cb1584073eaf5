// SPDX-License-Identifier: Apache-2.0
#include "base/number.hpp"

#include <tilewise/error.hpp>

#include <charconv>
#include <iterator>
#include <limits>

namespace tilewise::base {

namespace {

template <class T>
std::string range_of() {
  const auto text = [](T value) { return to_string(scalar_value::of(value)); };
  return text(std::numeric_limits<T>::lowest()) + " to " + text(std::numeric_limits<T>::max());
}

}  // namespace

std::string to_string(const scalar_value& value) {
  return with_type(value.type, [&]<class T>(T) {
    char text[64];
    return std::string(text, std::to_chars(std::begin(text), std::end(text), value.as<T>()).ptr);
  });
}

std::string hex_digits(std::uint64_t bits, std::size_t count) {
  std::string text;
  for (std::size_t digit = count; digit-- > 0;) text += "0123456789abcdef"[bits >> (4 * digit) & 15];
  return text;
}

std::string to_hex(const scalar_value& value) { return "0x" + hex_digits(value.bits, 2 * size_of(value.type)); }

scalar_value parse_number(std::string_view text, dtype type) {
  return with_type(type, [&]<class T>(T) {
    T value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure == std::errc::result_out_of_range)
      throw error(errc::invalid_argument, "'" + std::string(text) + "' is out of range: " + std::string(name_of(type)) +
                                              " holds " + range_of<T>());
    if (failure != std::errc() || end != text.data() + text.size())
      throw error(errc::invalid_argument,
                  "'" + std::string(text) + "' is not a number of type " + std::string(name_of(type)) +
                      (is_float(type) ? "; write it like -0.5, 1e30, inf or nan" : "; write it in decimal digits"));
    return scalar_value::of(value);
  });
}

}  // namespace tilewise::base
