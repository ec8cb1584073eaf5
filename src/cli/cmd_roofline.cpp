// tilewise roofline: what bounds each algorithm on each device, and how much of it is reached.
#include "cli/output.hpp"
#include "cli/record_input.hpp"
#include "cli/roofline_table.hpp"
#include "report/format.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace tilewise::cli {

namespace {

struct roofline_request {
  common_options common;
  std::vector<std::string> files;
};

void print_rooflines(const std::vector<report::roofline>& all, bool as_json) {
  if (as_json) {
    nlohmann::ordered_json told{{"command", "roofline"}, {"devices", nlohmann::ordered_json::array()}};
    for (const report::roofline& of : all) told["devices"].push_back(to_json(of));
    return print_json(told);
  }
  std::set<std::string_view> machines;
  for (const report::roofline& of : all) machines.insert(of.machine);
  for (const report::roofline& of : all)
    print((&of == &all.front() ? "" : "\n") + roofline_block(of, machines.size() > 1));
}

exit_code analyse(const roofline_request& asked) {
  const report::model m = report::make_model(read_rows(asked.files));
  const std::vector<report::roofline> all = report::rooflines(m);
  if (all.empty())
    throw error(errc::io, "among " + report::count(m.rows.size()) +
                              " records there is neither a limit nor a right time of a kernel; `tilewise bench -o "
                              "FILE` measures both");
  print_rooflines(all, asked.common.json);
  return exit_code::ok;
}

}  // namespace

void add_roofline(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("roofline", "what bounds each algorithm, and how near it comes");
  const auto asked = std::make_shared<roofline_request>();
  command->add_option("FILES", asked->files, "records of bench")
      ->option_text("FILE...")
      ->required()
      ->check(file_name());
  command->add_flag("--json", asked->common.json, "one JSON object on one line, also for errors");
  command->callback([&call, asked] { call.run = [asked] { return analyse(*asked); }; });
}

}  // namespace tilewise::cli
