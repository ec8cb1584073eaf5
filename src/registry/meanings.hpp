// SPDX-License-Identifier: Apache-2.0
// Suggestions for names that other libraries use: by meaning, not by spelling.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tilewise::registry {

/// The kind of name that was not found: a command of the tool, an algorithm, or a value of the setting `op`.
enum class missing { command, algorithm, op };

/// What to use instead of an option that the command does not have, worded as by suggestion(). Empty if the option is
/// unknown here too.
std::string option_suggestion(std::string_view command, std::string_view wanted);

/// What to use instead of a name that does not exist: " did you mean reduce --op max?" for max, " divide the sum ..."
/// for mean. If the name is unknown here too, proposes those of `names` with a similar spelling.
std::string suggestion(missing what, std::string_view wanted, std::span<const std::string> names);

}  // namespace tilewise::registry
