// SPDX-License-Identifier: Apache-2.0
// What the tool prints: results on standard output, everything else on standard error.
#pragma once

#include "tool/exit_code.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tilewise::cli {

/// Prints a part of the result. Errors are remembered, and finish_output reports them.
void print(std::string_view text);
/// Prints one JSON object on one line.
void print_json(const nlohmann::ordered_json& fields);

/// Builds one JSON object member by member, and prints it at end(). It keeps only the text of a long list, which takes
/// a tenth of the memory of its JSON. If something fails before end(), nothing is printed.
class json_line {
 public:
  void add(std::string_view name, const nlohmann::ordered_json& value);
  /// Adds an array with `to_json` of each element.
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
/// Prints a line for people, on standard error.
void note(std::string_view line);
/// Whether standard error is a terminal on which progress() can draw.
bool shows_progress();
/// Shows a line that replaces the last one, on standard error if that is a terminal, at most ten times a second. An
/// empty line removes it.
void progress(std::string_view line);

/// Sets whether failures are also reported as JSON, as for a command with --json.
void tell_failures_as_json(bool wanted);
/// Ends a command that failed: prints a line on standard error and, if requested, one JSON object on standard output.
/// `code` tells programs what went wrong, as name_of(errc) does.
exit_code fail(std::string_view code, exit_code exit, const std::string& message);

/// Returns `so_far`, unless the results could not be written: a full disk or a closed stream is `io`. A reader that
/// went away is no error.
exit_code finish_output(exit_code so_far);

/// "1 row", "2 rows".
std::string number_of(std::size_t n, const std::string& what);

/// Colours a text for print(). Returns plain text if NO_COLOR is set or standard output is not a terminal.
enum class colour { red, green, dim };
std::string coloured(std::string_view text, colour c);

}  // namespace tilewise::cli
