// SPDX-License-Identifier: Apache-2.0
// Suggestions for a name that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::base {

/// A name that the user may have meant: `written` is compared with the user's text, `shown` is what to type instead.
struct proposal {
  std::string written, shown;
};

/// Up to three proposals with the smallest edit distance, without repetition, as " did you mean a, b or c?".
std::string propose(std::string_view wanted, std::vector<proposal> all);

/// The same for names that are shown as written.
std::string nearest(std::string_view wanted, std::span<const std::string> names);

}  // namespace tilewise::base
