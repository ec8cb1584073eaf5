#include "cli/output.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace tilewise::cli {

namespace {

int first_failure = 0;  // errno of the first write of results that failed
bool failures_are_json = false;

void write(std::string_view text, std::FILE* to) {
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size() && to == stdout && first_failure == 0)
    first_failure = errno;
}

}  // namespace

bool shows_progress() {
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  return terminal;
}

/// A self-replacing line may be where this one goes, if both streams are the same terminal.
void print(std::string_view text) {
  progress("");
  write(text, stdout);
  if (std::fflush(stdout) != 0 && first_failure == 0) first_failure = errno;
}

void print_json(const nlohmann::ordered_json& fields) {
  print(fields.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void note(std::string_view line) {
  progress("");
  write(std::string(line) + "\n", stderr);
}

void progress(std::string_view line) {
  using clock = std::chrono::steady_clock;
  static clock::time_point last;
  static bool drawn = false;
  if (!shows_progress() || (line.empty() && !drawn)) return;
  if (!line.empty() && clock::now() - last < std::chrono::milliseconds(100)) return;
  last = clock::now();
  drawn = !line.empty();
  write("\r\033[K" + std::string(line), stderr);
  std::fflush(stderr);
}

void tell_failures_as_json(bool wanted) { failures_are_json = wanted; }

exit_code fail(std::string_view code, exit_code exit, const std::string& message) {
  note("tilewise: " + message);
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

std::string coloured(std::string_view text, colour c) {
  const char* refused = std::getenv("NO_COLOR");
  if ((refused != nullptr && *refused != '\0') || isatty(STDOUT_FILENO) != 1) return std::string(text);
  const char* code = c == colour::red ? "31" : c == colour::green ? "32" : "2";
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

}  // namespace tilewise::cli
