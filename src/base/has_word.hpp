// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tilewise::base {

/// Whether `words`, which are separated by spaces, has this one.
inline bool has_word(std::string_view words, std::string_view word) {
  const std::string spaced = " " + std::string(words) + " ";
  return !word.empty() && word.find(' ') == word.npos && spaced.find(" " + std::string(word) + " ") != spaced.npos;
}

}  // namespace tilewise::base
