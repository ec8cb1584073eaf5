// SPDX-License-Identifier: Apache-2.0
#include "io/base64.hpp"

#include <algorithm>
#include <cstdint>

namespace tilewise::io {

namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {  // three bytes give four letters
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < here ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
    for (std::size_t i = 0; i < 4; ++i) text += i <= here ? letters[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

bool is_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  return text.find_first_not_of(letters) == text.npos;
}

}  // namespace tilewise::io
