// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::base {

/// Whether `word` is one of `words`, which are separated by spaces.
inline bool has_word(std::string_view words, std::string_view word) {
  const std::string spaced = " " + std::string(words) + " ";
  return !word.empty() && word.find(' ') == word.npos && spaced.find(" " + std::string(word) + " ") != spaced.npos;
}

/// The value of an environment variable; empty if it is not set.
inline std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The folders that execvp searches if PATH is not set.
inline constexpr const char* usual_path = "/bin:/usr/bin";

/// The absolute folders in a list such as PATH. Relative ones are below the current folder, whose files may be a
/// stranger's.
inline std::vector<std::string> absolute_folders(const std::string& list) {
  std::vector<std::string> found;
  std::istringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ':');)
    if (entry.starts_with('/')) found.push_back(entry);
  return found;
}

inline std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Whether a variable that may also have other values says yes, or no.
inline bool says_yes(const std::string& text) { return has_word("on yes true 1", in_small_letters(text)); }
inline bool says_no(const std::string& text) { return has_word("off no false 0 none", in_small_letters(text)); }

}  // namespace tilewise::base
