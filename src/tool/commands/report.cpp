// SPDX-License-Identifier: Apache-2.0
// tilewise report: records as a page, CSV or a table.
#include "report/report.hpp"
#include "io/replacement_file.hpp"
#include "tool/arrays/file_roles.hpp"
#include "tool/browser.hpp"
#include "tool/commands.hpp"
#include "tool/output.hpp"
#include "tool/record_input.hpp"

#include <array>
#include <memory>
#include <optional>

namespace tilewise::cli {

namespace {

struct report_options {
  std::vector<std::string> files;
  std::string page;
  std::string csv;
  bool markdown = false, matrix = false;
  bool open = false;

  bool asks_for_nothing() const { return page.empty() && csv.empty() && !markdown && !matrix; }
  /// The page's file; empty if there is to be none.
  std::string page_file() const { return page.empty() && (asks_for_nothing() || open) ? "report.html" : page; }
};

/// Before records are read, which may take long.
void try_outputs(const report_options& options, const std::string& page) {
  const bool prints = options.markdown || options.matrix;
  require_distinct_outputs(std::array<std::string, 3>{page, options.csv, prints ? io::standard_stream : ""});
  for (const std::string& output : {page, options.csv}) {
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
  report::row_table rows;
  const auto take = [&](const record::result& r) {
    if (csv) csv->add(r);
    if (!page.empty() || options.markdown || options.matrix) rows.add(r);
  };
  take_records(options.files, take);
  const report::model m = report::make_model(std::move(rows));
  if (!page.empty()) report::write_html(m, page);
  if (csv) csv->commit();
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
