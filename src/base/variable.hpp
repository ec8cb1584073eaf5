// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

namespace tilewise::base {

/// What an environment variable holds; empty if there is none.
inline std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Whether a variable's text is one of these words, with spaces around them all, in small letters or large ones.
inline bool is_one_of(const char* words, std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.find(' ') == text.npos && std::string(words).find(" " + text + " ") != text.npos;
}

/// How users say yes and no where a variable takes something else as well.
inline bool says_yes(const std::string& text) { return is_one_of(" on yes true 1 ", text); }
inline bool says_no(const std::string& text) { return is_one_of(" off no false 0 none ", text); }

}  // namespace tilewise::base
