// SPDX-License-Identifier: Apache-2.0
#include "tool/output.hpp"

#include "base/printable.hpp"
#include "base/variable.hpp"
#include "io/file_bytes.hpp"
#include "tool/ranks/voice.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>

#include <unistd.h>

namespace tilewise::cli {

namespace {

int first_failure = 0;  // errno of the first failed write of results
bool failures_are_json = false;

void write(std::string_view text, int to) {
  io::write_stream(to, std::as_bytes(std::span(text)));
  if (errno != 0 && to == STDOUT_FILENO && first_failure == 0) first_failure = errno;
}

constexpr std::string_view line_controls = "\n\t";

bool shows_colour() { return base::variable("NO_COLOR").empty() && isatty(STDOUT_FILENO) == 1; }

// Placeholders for colour codes until the text is printed: bytes that never occur in UTF-8, and so not in records.
constexpr std::string_view marks = "\xfc\xfd\xfe\xff";  // one for each colour, and one for its end
constexpr std::array codes = {"\033[31m", "\033[32m", "\033[2m", "\033[0m"};

/// Removes what could control a terminal, except our colours: names and records come from outside.
std::string harmless(std::string_view text) {
  if (!shows_colour()) return base::without_controls(text, line_controls);
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find_first_of(marks, at), text.size());
    shown += base::without_controls(text.substr(at, next - at), line_controls);
    if (next < text.size()) shown += codes[marks.find(text[next])];
    at = next + 1;
  }
  return shown;
}

std::string json_text(const nlohmann::ordered_json& value) {
  const std::string text = value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return base::without_controls(text, "", "\\u00");  // U+007F to U+009F are still in the text
}

}  // namespace

bool shows_progress() {
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  return terminal;
}

/// Removes the progress line first, since both streams may be the same terminal.
static void write_result(std::string_view text) {
  progress("");
  write(text, STDOUT_FILENO);
}

void print(std::string_view text) {
  if (is_first_rank()) write_result(harmless(text));
}

void print_json(const nlohmann::ordered_json& fields) {
  if (is_first_rank()) write_result(json_text(fields) + "\n");
}

std::string json_line::text_of(const nlohmann::ordered_json& value) { return json_text(value); }

void json_line::begin(std::string_view name) {
  text_ += (has_members_ ? "," : "") + json_text(name) + ":";
  has_members_ = true;
}

void json_line::add(std::string_view name, const nlohmann::ordered_json& value) {
  begin(name);
  text_ += json_text(value);
}

void json_line::end() {
  if (is_first_rank()) write_result(text_ + "}\n");
}

static void say(std::string_view line) {
  progress("");
  write(base::without_controls(line, line_controls) + "\n", STDERR_FILENO);
}

void note(std::string_view line) {
  if (is_first_rank()) say(line);
}

void progress(std::string_view line) {
  using clock = std::chrono::steady_clock;
  static clock::time_point last;
  static bool drawn = false;
  if (!is_first_rank() || !shows_progress() || (line.empty() && !drawn)) return;
  if (!line.empty() && clock::now() - last < std::chrono::milliseconds(100)) return;
  last = clock::now();
  drawn = !line.empty();
  write("\r\033[K" + base::without_controls(line, ""), STDERR_FILENO);
}

void tell_failures_as_json(bool wanted) { failures_are_json = wanted; }

exit_code fail(std::string_view code, exit_code exit, const std::string& message) {
  say("tilewise: " + rank_in_words() + message);
  if (failures_are_json)
    print_json({{"error", {{"code", code}, {"exit", static_cast<int>(exit)}, {"message", message}}}});
  return exit;
}

exit_code finish_output(exit_code so_far) {
  progress("");
  if (first_failure == 0 || first_failure == EPIPE) return so_far;
  note("tilewise: the results could not be written to standard output: " + std::string(std::strerror(first_failure)));
  return so_far == exit_code::ok ? exit_code::io : so_far;
}

std::string number_of(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string coloured(std::string_view text, colour c) {
  if (!shows_colour()) return std::string(text);
  return marks[static_cast<std::size_t>(c)] + std::string(text) + marks.back();
}

}  // namespace tilewise::cli
