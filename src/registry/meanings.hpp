// SPDX-License-Identifier: Apache-2.0
// Suggestions for names that other libraries use, by what they mean.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tilewise::registry {

/// What is missing: a command of the tool, an algorithm, or a word of the setting `op`.
enum class missing { command, algorithm, op };

/// What to use instead of an option that the command does not have, in words as suggestion() has them; empty if the
/// option means nothing to us.
std::string option_suggestion(std::string_view command, std::string_view wanted);

/// What to use instead of a name that does not exist: " did you mean reduce --op max?" for max, " divide the sum ..."
/// for mean. By spelling, among `names`, where the name means nothing to us.
std::string suggestion(missing what, std::string_view wanted, std::span<const std::string> names);

}  // namespace tilewise::registry
