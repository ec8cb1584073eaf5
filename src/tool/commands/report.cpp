// SPDX-License-Identifier: Apache-2.0
// tilewise report: turns records into a page, CSV or a table.
#include "report/report.hpp"
#include "base/variable.hpp"
#include "io/replacement_file.hpp"
#include "tool/arrays/file.hpp"
#include "tool/commands.hpp"
#include "tool/output.hpp"
#include "tool/rows.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace tilewise::cli {

namespace {

struct report_options {
  std::vector<std::string> files;
  std::string page;
  std::string csv, google_benchmark;
  bool markdown = false, matrix = false;
  bool open = false;

  bool asks_for_nothing() const {
    return page.empty() && csv.empty() && google_benchmark.empty() && !markdown && !matrix;
  }
  /// The path of the page; empty if no page is wanted.
  std::string page_file() const { return page.empty() && (asks_for_nothing() || open) ? "report.html" : page; }
};

bool has_display() { return !base::variable("WAYLAND_DISPLAY").empty() || !base::variable("DISPLAY").empty(); }

/// Starts a program in a session of its own, so that closing our terminal leaves the browser open, and without our
/// streams, so that it prints nothing on them.
bool starts(std::string program, std::string argument) {
  posix_spawn_file_actions_t streams;
  posix_spawnattr_t own;
  if (posix_spawn_file_actions_init(&streams) != 0) return false;
  if (posix_spawnattr_init(&own) != 0) return posix_spawn_file_actions_destroy(&streams), false;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&streams, stream, "/dev/null", O_RDWR, 0);
  posix_spawnattr_setflags(&own, POSIX_SPAWN_SETSID);
  char* words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const bool started = posix_spawn(&child, program.c_str(), &streams, &own, words, environ) == 0;
  posix_spawnattr_destroy(&own);
  posix_spawn_file_actions_destroy(&streams);
  return started;
}

/// Uses the first xdg-open in an absolute folder of PATH. A program in the current folder may be a stranger's.
bool is_opened(const std::string& page) {
  const std::string path = base::variable("PATH");
  const std::vector<std::string> folders = base::absolute_folders(path.empty() ? base::usual_path : path);
  return std::any_of(folders.begin(), folders.end(), [&](const auto& at) { return starts(at + "/xdg-open", page); });
}

/// Opens a page with xdg-open, without waiting. Without a display or xdg-open, says where the page is.
void open_in_browser(const std::string& page) {
  const std::string path = std::filesystem::absolute(page).lexically_normal().string();
  if (has_display() && is_opened(path))
    note("opening " + path);
  else
    note("there is no display, or no xdg-open, to open the page with; it is " + path);
}

/// Checks that the outputs can be written before the records are read, which may take long.
void try_outputs(const report_options& options, const std::string& page) {
  const bool prints = options.markdown || options.matrix;
  require_distinct_outputs(
      std::array<std::string, 4>{page, options.csv, options.google_benchmark, prints ? io::standard_stream : ""});
  for (const std::string& output : {page, options.csv, options.google_benchmark}) {
    if (output.empty()) continue;
    for (const std::string& input : options.files) refuse_overwriting(input, output);
    io::try_output(output);
  }
}

exit_code run(const report_options& options) {
  const std::string page = options.page_file();
  try_outputs(options, page);
  std::optional<report::csv_file> csv;
  if (!options.csv.empty()) csv.emplace(options.csv);
  std::optional<report::google_benchmark_file> times;
  if (!options.google_benchmark.empty()) times.emplace(options.google_benchmark);
  report::row_table rows;
  const auto take = [&](const record::result& r) {
    if (csv) csv->add(r);
    if (times) times->add(r);
    if (!page.empty() || options.markdown || options.matrix) rows.add(r);
  };
  take_records(options.files, take);
  const report::model m = report::make_model(std::move(rows));
  if (!page.empty()) report::write_html(m, page);
  if (csv) csv->commit();
  if (times) times->commit();
  if (options.matrix) print(report::matrix_markdown(m));
  if (options.markdown) print(report::markdown(m));
  if (options.open)
    open_in_browser(page);
  else if (options.asks_for_nothing())
    note("wrote report.html");
  return exit_code::ok;
}

}  // namespace

void add_report(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("report", "records of `bench` as a page, CSV or a table");
  const auto options = std::make_shared<report_options>();
  command->add_option("RESULTS", options->files, "files written by `tilewise bench -o`")
      ->option_text("...")
      ->check(file_name())
      ->required();
  add_file_option(*command, "-o,--output", options->page, "the page to write; report.html if no output is named",
                  "FILE.html");
  add_file_option(*command, "--csv", options->csv, "one row per record, for a spreadsheet", "FILE.csv");
  add_file_option(*command, "--google-benchmark", options->google_benchmark,
                  "the JSON of Google Benchmark, for a history", "FILE.json");
  command->add_flag("--markdown", options->markdown, "print tables of all sizes, for a README");
  command->add_flag("--matrix", options->matrix, "print a small table against other libraries");
  command->add_flag("--open", options->open, "open the page in your browser");
  command->footer(
      "The page needs no network and holds everything: charts, their numbers, the bits.\n"
      "\n"
      "Examples:\n"
      "  tilewise report results.jsonl --open\n"
      "  tilewise report h200.jsonl laptop.jsonl -o both.html --csv both.csv");
  command->callback([&call, options] { call.run = [options] { return run(*options); }; });
}

}  // namespace tilewise::cli
