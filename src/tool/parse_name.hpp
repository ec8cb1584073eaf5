// SPDX-License-Identifier: Apache-2.0
// A word of the command line that must be one of some names.
#pragma once

#include "base/nearest.hpp"

#include <tilewise/error.hpp>

#include <span>
#include <string>
#include <vector>

namespace tilewise::cli {

/// The value that has this name. Throws `invalid_argument` with the nearest ones; `what` says what they are.
template <class T>
T parse_name(const std::string& text, std::span<const T> all, const char* what) {
  std::vector<std::string> names;
  for (T value : all) {
    if (text == name_of(value)) return value;
    names.emplace_back(name_of(value));
  }
  throw error(errc::invalid_argument,
              "there is no " + std::string(what) + " '" + text + "';" + base::nearest(text, names));
}

}  // namespace tilewise::cli
