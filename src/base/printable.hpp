// Text from outside, made fit for a message.
#pragma once

#include <string>
#include <string_view>

namespace tilewise::base {

/// Control bytes as \xNN, and at most 200 characters: nothing in a file's name or header may steer a terminal.
inline std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, 200)) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 32 && code != 127)
      shown += c;
    else
      shown += {'\\', 'x', "0123456789abcdef"[code >> 4], "0123456789abcdef"[code & 15]};
  }
  return text.size() > 200 ? shown + "..." : shown;
}

}  // namespace tilewise::base
