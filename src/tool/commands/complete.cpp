// SPDX-License-Identifier: Apache-2.0
// tilewise complete: hidden; answers the completion scripts of shells. Prints the words that may stand at the cursor,
// one a line, with their meaning after a tab; nothing if a file name is expected. It opens no device, so it is quick.
// Drivers list their devices in a child, so a faulty one loses only its own names.
#include "tool/commands.hpp"
#include "tool/drivers/child.hpp"
#include "tool/drivers/drivers.hpp"
#include "tool/output.hpp"

#include "backend/backend.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/plan/request.hpp"
#include "registry/catalog.hpp"
#include "report/compare/comparison.hpp"

#include <algorithm>
#include <set>

namespace tilewise::cli {

namespace {

struct candidate {
  std::string word, meaning;
};
using candidates = std::vector<candidate>;

/// The parsed part of the line: the command, and its words up to the cursor.
struct asked_line {
  const CLI::App* command;
  std::vector<std::string> before;
};

template <class Values>
candidates names_of(const Values& values) {
  candidates names;
  for (const auto& value : values) names.push_back({std::string(name_of(value)), ""});
  return names;
}

candidates devices() {
  candidates found{{"cpu", "the fastest executor"}};
  std::string why_none;
  for (const backend::runtime& r : backend::runtimes()) {
    if (r.name == "cpu") {
      for (const auto& device : r.devices(why_none)) found.push_back({device->info().name, device->info().description});
      continue;
    }
    listing list = list_in_child(std::string(r.name));
    if (!list.fault.empty() && r.name == "opencl" && !leave_out_faulty_drivers().empty())
      list = list_in_child("opencl");
    for (std::size_t i = 0; i < list.is_cpu.size(); ++i)
      found.push_back({std::string(r.name) + ":" + std::to_string(i), list.is_cpu[i] ? "a CPU" : "an accelerator"});
  }
  return found;
}

/// The algorithms of the command itself, or else those named on the line, or else all.
std::vector<const registry::algorithm*> algorithms_of(const asked_line& line) {
  std::vector<const registry::algorithm*> named;
  for (const registry::algorithm* a : registry::algorithms()) {
    if (a->name == line.command->get_name()) return {a};
    if (std::find(line.before.begin(), line.before.end(), a->name) != line.before.end()) named.push_back(a);
  }
  if (named.empty()) named.assign(registry::algorithms().begin(), registry::algorithms().end());
  return named;
}

candidates variants(const asked_line& line, bool by_id) {
  candidates found;
  for (const registry::algorithm* a : algorithms_of(line))
    for (const registry::variant* v : registry::variants_of(*a))
      if (!v->peer) found.push_back({by_id ? v->id() : v->label(), std::string(v->source)});
  return found;
}

/// The words of a setting, for an option of its own (--op) or after its name (--set op=). An option that takes a
/// number, such as --init, has none.
candidates settings(const asked_line& line, const std::string& wanted) {
  candidates found;
  for (const registry::algorithm* a : algorithms_of(line))
    for (const registry::setting& s : a->settings)
      for (const std::string_view word : s.values)
        if (wanted.empty() ||
            (s.name == wanted && std::find(a->numbers.begin(), a->numbers.end(), s.name) == a->numbers.end()))
          found.push_back({(wanted.empty() ? std::string(s.name) + "=" : "") + std::string(word), ""});
  return found;
}

candidates tunings(const asked_line& line) {
  candidates found;
  for (const registry::algorithm* a : algorithms_of(line))
    for (const registry::variant* v : registry::variants_of(*a))
      for (const registry::tuning_axis& axis : v->tuning) {
        std::istringstream values(registry::values_of(axis));
        for (std::string value; std::getline(values, value, '|');)
          found.push_back({std::string(axis.name) + "=" + value, ""});
      }
  return found;
}

candidates values_of(const CLI::Option& option, const asked_line& line) {
  const std::string name = option.get_lnames().empty() ? "" : option.get_lnames().front();
  if (name == "device") {
    candidates found = devices();
    if (option.get_delimiter() != '\0')
      found.push_back({"all", "every device"});
    else if (algorithms_of(line).size() == 1)
      found.push_back({"auto", "what is fastest by rule or by measurement"});
    return found;
  }
  if (name == "variant") return variants(line, false);
  if (name == "tuning") return tunings(line);
  if (name == "set") return settings(line, "");
  if (name == "dtype") return names_of(all_dtypes);
  if (name == "mode") return names_of(lab::all_modes);
  if (name == "fail-on")
    return names_of(std::array{report::verdict::slower, report::verdict::wrong, report::verdict::unclear});
  if (name == "preset") {
    candidates found;
    for (const lab::preset& p : lab::presets()) found.push_back({std::string(p.name), ""});
    return found;
  }
  return settings(line, name);
}

candidates options_of(const CLI::App& command) {
  candidates found;
  for (const CLI::Option* o : shown_options(command)) {
    for (const std::string& name : o->get_lnames()) found.push_back({"--" + name, o->get_description()});
    if (o->get_lnames().empty())
      for (const std::string& name : o->get_snames()) found.push_back({"-" + name, o->get_description()});
  }
  return found;
}

candidates commands_of(const CLI::App& tool) {
  candidates found{{"help", "the options of a command"}};
  for (const CLI::App* c : shown_commands(tool)) found.push_back({c->get_name(), c->get_description()});
  return found;
}

/// Candidates for a positional argument: algorithms, variants or files.
candidates arguments_of(const asked_line& line, const std::string& part) {
  for (const CLI::Option* o : line.command->get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    const std::string name = o->get_name(true);
    if (name != "ALGORITHM" && name != "SELECTOR") continue;
    if (name == "SELECTOR" && part.find('/') != part.npos) return variants({line.command, {}}, true);
    candidates found;
    for (const registry::algorithm* a : registry::algorithms())
      found.push_back({std::string(a->name), std::string(a->summary)});
    return found;
  }
  return {};
}

const CLI::Option* option_called(const CLI::App& command, const std::string& word) {
  const CLI::Option* option = word.starts_with('-') ? command.get_option_no_throw(word) : nullptr;
  return option != nullptr && option->get_items_expected_max() > 0 ? option : nullptr;
}

/// Prints each candidate that begins with `part` once, after the text that is already there.
void print_fitting(candidates found, const std::string& part, const std::string& there = "") {
  std::set<std::string> shown;
  for (const candidate& c : found)
    if (c.word.starts_with(part) && shown.insert(c.word).second)
      print(there + c.word + (c.meaning.empty() ? "" : "\t" + c.meaning) + "\n");
}

/// Completes the last of several values separated by commas, and keeps the values before it.
void print_values(const CLI::Option& option, const asked_line& line, std::string part, std::string there = "") {
  const std::size_t comma = option.get_delimiter() == ',' ? part.rfind(',') : part.npos;
  if (comma != part.npos) {
    there += part.substr(0, comma + 1);
    part.erase(0, comma + 1);
  }
  print_fitting(values_of(option, line), part, there);
}

exit_code complete(const CLI::App& tool, std::vector<std::string> typed) {
  if (typed.empty()) return exit_code::usage;
  const std::string part = typed.back();
  typed.pop_back();
  if (typed.empty() || typed.front() == "help") {
    print_fitting(part.starts_with('-') ? options_of(tool) : commands_of(tool), part);
    return exit_code::ok;
  }
  const std::vector<const CLI::App*> all = shown_commands(tool);
  const auto command = std::find_if(all.begin(), all.end(), [&](auto* c) { return c->get_name() == typed.front(); });
  if (command == all.end()) return exit_code::ok;
  const asked_line line{*command, {typed.begin() + 1, typed.end()}};
  const std::size_t equals = part.find('=');
  if (const CLI::Option* before = option_called(**command, typed.back()))
    print_values(*before, line, part);
  else if (const CLI::Option* own = equals == part.npos ? nullptr : option_called(**command, part.substr(0, equals)))
    print_values(*own, line, part.substr(equals + 1), part.substr(0, equals + 1));
  else
    print_fitting(part.starts_with('-') ? options_of(**command) : arguments_of(line, part), part);
  return exit_code::ok;
}

}  // namespace

void add_complete(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("complete", "what the completions of shells ask")->group("");
  auto typed = std::make_shared<std::vector<std::string>>();
  command->add_option("WORDS", *typed, "behind --: the words after the tool's name, the last one unfinished");
  command->callback([&app, &call, typed] { call.run = [&app, typed] { return complete(app, *typed); }; });
}

}  // namespace tilewise::cli
