// What the tool prints: results on standard output, all else on standard error.
#pragma once

#include "cli/exit_code.hpp"

#include <string>
#include <string_view>

namespace tilewise::cli {

/// A part of the result. Failures are kept and told by finish_output.
void print(std::string_view text);
/// A line for people, on standard error.
void note(std::string_view line);
/// Whether progress() has somewhere to draw.
bool shows_progress();
/// A line that replaces itself, on standard error if that is a terminal; at most ten times a second. An empty one
/// removes it.
void progress(std::string_view line);

/// Flushes the results. A reader that went away is no error; a full disk or a closed stream is `io`.
exit_code finish_output(exit_code so_far);

/// Terminal colours, unless NO_COLOR is set or standard output is no terminal: then the text as it is.
enum class colour { red, green, dim };
std::string coloured(std::string_view text, colour c);

}  // namespace tilewise::cli
