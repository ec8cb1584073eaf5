// SPDX-License-Identifier: Apache-2.0
// Makes text from files and users safe to print.
#pragma once

#include <string>
#include <string_view>

namespace tilewise::base {

/// The beginning of UTF-8 text: whole characters, at most `bytes` bytes.
inline std::string_view beginning(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

/// Replaces control characters, except those in `kept`, by `mark` and two hexadecimal digits. This includes control
/// characters that take two bytes in UTF-8.
inline std::string without_controls(std::string_view text, std::string_view kept, std::string_view mark = "\\x") {
  std::string shown;
  int rest = 0;  // bytes left of the current character
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool continues = (code & 0xc0) == 0x80 && rest > 0;
    const bool is_second_control = code >= 0x80 && code < 0xa0 && (!continues || (shown.back() == '\xc2' && rest == 1));
    if (is_second_control && continues) shown.pop_back();
    rest = continues ? rest - 1 : code >= 0xf0 ? 3 : code >= 0xe0 ? 2 : code >= 0xc0 ? 1 : 0;
    if (!is_second_control && ((code >= 32 && code != 127) || kept.find(c) != kept.npos))
      shown += c;
    else
      shown.append(mark).append({"0123456789abcdef"[code >> 4], "0123456789abcdef"[code & 15]});
  }
  return shown;
}

/// At most 200 bytes of the text, without control characters, so that a file's name or header cannot control the
/// terminal.
inline std::string printable(std::string_view text) {
  const std::string shown = without_controls(beginning(text, 200), "");
  return text.size() > 200 ? shown + "..." : shown;
}

}  // namespace tilewise::base
