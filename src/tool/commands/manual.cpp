// SPDX-License-Identifier: Apache-2.0
// tilewise manual: hidden; writes the manual pages of the tool and of each command from their help. The build runs it.
#include "io/replacement_file.hpp"
#include "tool/commands.hpp"

#include <tilewise/version.hpp>

#include <algorithm>
#include <cctype>
#include <span>
#include <sstream>

namespace tilewise::cli {

namespace {

constexpr std::size_t help_width = 80;
constexpr std::string_view head_of_examples = "Examples:", head_of_exit_codes = "Exit codes:";

/// Escapes a text for roff: it contains no escapes or requests, and its hyphens can be searched and copied.
std::string plain(const std::string& text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

std::string capital(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Joins lines to paragraphs. A line ends a paragraph if the next word would have fitted on it.
std::string paragraphs(const std::vector<std::string>& lines) {
  std::string page;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    page += lines[i].empty() ? ".PP\n" : plain(lines[i]) + "\n";
    if (i + 1 == lines.size() || lines[i].empty() || lines[i + 1].empty()) continue;
    if (lines[i].size() + 1 + lines[i + 1].find(' ') < help_width) page += ".PP\n";
  }
  return page;
}

std::string paragraph(const std::vector<std::string>& lines) {
  std::string page;
  for (const std::string& line : lines) page += plain(line) + "\n";
  return page;
}

/// The lines as they are, without their indent.
std::string as_typed(const std::vector<std::string>& lines) {
  std::string page = ".EX\n";
  for (const std::string& line : lines) page += plain(line.substr(std::min<std::size_t>(2, line.size()))) + "\n";
  return page + ".EE\n";
}

/// The help text below the options: prose, examples, and for the tool itself the exit codes.
std::string prose_of(const CLI::App& app) {
  std::vector<std::string> text, examples, codes, *to = &text;
  for (const std::string& line : lines_of(app.get_footer())) {
    if (line == head_of_examples) to = &examples;
    if (line.starts_with(head_of_exit_codes)) to = &codes;
    if (line == head_of_examples || (line.empty() && to != &text)) continue;
    to->push_back(line);
  }
  while (!text.empty() && text.back().empty()) text.pop_back();
  if (!codes.empty()) codes.front().erase(0, head_of_exit_codes.size() + 1);
  std::string page;
  if (!text.empty()) page += ".SH DESCRIPTION\n" + paragraphs(text);
  if (!codes.empty()) page += ".SH EXIT STATUS\n" + paragraph(codes);
  if (!examples.empty()) page += ".SH EXAMPLES\n" + as_typed(examples);
  return page;
}

std::string spelled(const CLI::Option& option) {
  const bool is_value_named = option.get_option_text().find_first_not_of(' ') != std::string::npos;
  const std::string value = is_value_named ? " " + italic(option.get_option_text()) : "";
  if (option.get_positional()) return italic(option.get_name(true)) + value;
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "" : ", ") + bold("-" + name);
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "" : ", ") + bold("--" + name);
  return names + value;
}

std::string options_of_page(const CLI::App& app) {
  std::string page;
  for (const bool positional : {true, false})
    for (const CLI::Option* o : shown_options(app))
      if (o->get_positional() == positional) page += ".TP\n" + spelled(*o) + "\n" + plain(o->get_description()) + "\n";
  return page.empty() ? "" : ".SH OPTIONS\n" + page;
}

std::string commands_of_page(const CLI::App& tool) {
  std::string page = ".SH COMMANDS\n";
  for (const CLI::App* c : shown_commands(tool))
    page += ".TP\n" + bold(c->get_name()) + "\n" + plain(c->get_description()) + "\n";
  return page;
}

std::string see_also(const CLI::App& tool, const CLI::App& shown) {
  std::string others;
  for (const CLI::App* c : shown_commands(tool))
    others += (others.empty() ? "" : ",\n") + (".BR " + plain("tilewise-" + c->get_name()) + " (1)");
  return ".SH SEE ALSO\n" + (&shown == &tool ? others : ".BR tilewise (1),\nwhich lists the exit codes") + "\n";
}

std::string file_of(const CLI::App& tool, const CLI::App& shown) {
  return "tilewise" + (&shown == &tool ? "" : "-" + shown.get_name());
}

std::string usage_of(const CLI::App& shown, const std::string& words) {
  std::string usage;
  for (const std::string& line : lines_of(shown.get_formatter()->make_help(&shown, words, CLI::AppFormatMode::Normal)))
    if (line.starts_with("Usage: ")) usage = line.substr(7);
  return usage.substr(std::min(words.size(), usage.size()));
}

std::string page_of(const CLI::App& tool, const CLI::App& shown) {
  const bool is_whole = &shown == &tool;
  const std::string words = "tilewise" + (is_whole ? "" : " " + shown.get_name());
  const std::string prose = prose_of(shown);
  const std::size_t behind =
      std::min(prose.find(".SH E"), prose.size());  // options come before exit codes and examples
  return ".TH " + plain(capital(file_of(tool, shown))) + " 1 \"\" \"Tilewise " + version() + "\" Tilewise\n" +
         ".ad l\n.nh\n.SH NAME\n" + plain(file_of(tool, shown)) + " \\- " + plain(shown.get_description()) + "\n" +
         ".SH SYNOPSIS\n" + bold(words) + plain(usage_of(shown, words)) + "\n" + prose.substr(0, behind) +
         (is_whole ? commands_of_page(tool) : "") + options_of_page(shown) + prose.substr(behind) +
         see_also(tool, shown);
}

exit_code write_pages(const CLI::App& tool, const std::string& folder) {
  std::vector<const CLI::App*> all = shown_commands(tool);
  all.push_back(&tool);
  for (const CLI::App* shown : all) {
    io::replacement_file file(folder + "/" + file_of(tool, *shown) + ".1");
    const std::string page = page_of(tool, *shown);
    file.write(std::as_bytes(std::span(page)));
    file.commit();
  }
  return exit_code::ok;
}

}  // namespace

void add_manual(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("manual", "writes the manual pages")->group("");
  auto folder = std::make_shared<std::string>();
  command->add_option("FOLDER", *folder, "where they go")->required();
  command->callback([&app, &call, folder] { call.run = [&app, folder] { return write_pages(app, *folder); }; });
}

}  // namespace tilewise::cli
