// SPDX-License-Identifier: Apache-2.0
// What the tool prints: results on standard output, everything else on standard error.
#pragma once

#include "tool/exit_code.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tilewise::cli {

/// A part of the result. Failures are kept and reported by finish_output.
void print(std::string_view text);
/// The same, as one object on one line.
void print_json(const nlohmann::ordered_json& fields);

/// The same, member by member, printed by end(): of a long list only the text is kept, which takes a tenth of its
/// JSON's memory. If something fails before that, nothing of it is printed.
class json_line {
 public:
  void add(std::string_view name, const nlohmann::ordered_json& value);
  /// An array of what `to_json` makes of each.
  template <class T, class ToJson>
  void add_each(std::string_view name, const std::vector<T>& all, const ToJson& to_json) {
    begin(name);
    for (const T& one : all) text_ += (&one == &all.front() ? "[" : ",") + text_of(to_json(one));
    text_ += all.empty() ? "[]" : "]";
  }
  void end();

 private:
  static std::string text_of(const nlohmann::ordered_json& value);
  void begin(std::string_view name);

  std::string text_ = "{";
  bool has_members_ = false;
};
/// A line for people, on standard error.
void note(std::string_view line);
/// Whether progress() has a terminal to draw on.
bool shows_progress();
/// A line that replaces itself, on standard error if that is a terminal; at most ten times a second. An empty one
/// removes it.
void progress(std::string_view line);

/// Whether failures are also reported as JSON, as for a command with --json.
void tell_failures_as_json(bool wanted);
/// The end of a command without a result: a line on standard error and, if requested, one JSON object on standard
/// output. `code` tells programs what went wrong, as name_of(errc) does.
exit_code fail(std::string_view code, exit_code exit, const std::string& message);

/// What it is where results could not be written. A reader that went away is no error; a full disk or a closed stream
/// is `io`.
exit_code finish_output(exit_code so_far);

/// "1 row", "2 rows".
std::string number_of(std::size_t n, const std::string& what);

/// For print(): in a colour of the terminal; the plain text if NO_COLOR is set or standard output is not a terminal.
enum class colour { red, green, dim };
std::string coloured(std::string_view text, colour c);

}  // namespace tilewise::cli
