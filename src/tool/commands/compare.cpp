// SPDX-License-Identifier: Apache-2.0
// tilewise compare: the records of two runs, before and after a change.
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "report/compare/comparison.hpp"
#include "tool/commands.hpp"
#include "tool/compare/table.hpp"
#include "tool/output.hpp"
#include "tool/record_input.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <set>

namespace tilewise::cli {

namespace {

using nlohmann::ordered_json;
using report::verdict;

struct compare_request {
  std::string before, after;
  std::vector<std::string> fail_on;
  bool json = false, verbose = false;
};

/// Which verdicts end in a failure: what is unclear may be slower.
std::set<verdict> verdicts_to_fail_on(const std::vector<std::string>& words) {
  constexpr std::array failures{verdict::slower, verdict::wrong, verdict::unclear};
  std::set<verdict> chosen;
  for (const std::string& word : words) {
    const auto found = std::find_if(failures.begin(), failures.end(), [&](verdict v) { return name_of(v) == word; });
    if (found == failures.end()) {
      const std::vector<std::string> names{"slower", "wrong", "unclear"};
      throw error(errc::invalid_argument, "--fail-on takes slower, wrong or unclear, and not '" +
                                              base::printable(word) + "';" + base::nearest(word, names));
    }
    chosen.insert(*found);
    if (*found == verdict::unclear) chosen.insert(verdict::slower);
  }
  return chosen;
}

exit_code exit_code_for(const report::comparison& c, const std::set<verdict>& failures) {
  exit_code worst = exit_code::ok;
  for (const verdict v : failures)
    if (c.count(v) > 0) worst = graver(worst, v == verdict::wrong ? exit_code::wrong_result : exit_code::regression);
  return worst;
}

ordered_json to_json(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); }

ordered_json time_of(const report::row* r) {
  return r != nullptr && r->timed() ? ordered_json(r->kernel->median) : ordered_json();
}

ordered_json case_of(const report::row& r) {
  return {{"group", r.group},   {"variant", r.variant}, {"device", r.device},
          {"tuning", r.tuning}, {"threads", r.threads}, {"mode", r.mode}};
}

ordered_json to_json(const report::compared_case& c) {
  ordered_json fields = case_of(*c.after);
  fields["verdict"] = name_of(c.is);
  fields["reason"] = c.why.empty() ? ordered_json() : ordered_json(c.why);
  fields["old_tuning"] = c.before != nullptr ? ordered_json(c.before->tuning) : ordered_json();
  fields["old_ns"] = time_of(c.before);
  fields["new_ns"] = time_of(c.after);
  fields["ratio"] = c.ratio ? ordered_json(c.ratio->median) : ordered_json();
  fields["ratio_ci95_lo"] = c.ratio ? to_json(c.ratio->low) : ordered_json();
  fields["ratio_ci95_hi"] = c.ratio ? to_json(c.ratio->high) : ordered_json();
  fields["noise_floor"] = c.noise_floor;
  return fields;
}

ordered_json to_json(const std::optional<report::mean_ratio>& mean) {
  if (!mean) return nullptr;
  return {{"rows", mean->rows},
          {"ratio", mean->value.median},
          {"ci95_lo", to_json(mean->value.low)},
          {"ci95_hi", to_json(mean->value.high)}};
}

ordered_json to_json(const report::left_out_case& c) {
  ordered_json fields = case_of(*c.what);
  fields["reason"] = c.why;
  return fields;
}

void print_object(const report::comparison& c, exit_code ended) {
  ordered_json counts;
  for (const report::verdict v : report::all_verdicts) counts[std::string(name_of(v))] = c.count(v);
  counts["left_out"] = c.left_out.size();
  const auto as_json = [](const auto& one) { return to_json(one); };
  json_line line;
  line.add("ok", ended == exit_code::ok);
  line.add("remarks", c.remarks);
  line.add("counts", counts);
  line.add("runs", {{"old", c.before.most_runs}, {"new", c.after.most_runs}});
  line.add("mean_ratio", to_json(mean_of(c.cases, false)));
  line.add("mean_ratio_of_peers", to_json(mean_of(c.cases, true)));
  line.add_each("cases", c.cases, as_json);
  line.add_each("left_out", c.left_out, as_json);
  line.end();
}

exit_code compare_files(const compare_request& request) {
  const std::set<verdict> failures = verdicts_to_fail_on(request.fail_on);
  const report::row_table before = read_rows({&request.before, 1}), after = read_rows({&request.after, 1});
  const report::comparison result = compare(before, after);
  if (result.pairs == 0)
    throw error(errc::io, base::printable(request.before) + " and " + base::printable(request.after) +
                              " have no case in common; measure both with the same words, such as `tilewise bench scan "
                              "--n 1048576 -o FILE.jsonl`");
  const exit_code ended = exit_code_for(result, failures);
  if (request.json)
    print_object(result, ended);
  else
    print(comparison_table(result, request.verbose));
  return ended;
}

}  // namespace

void add_compare(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("compare", "what a change made faster, slower or wrong");
  const auto request = std::make_shared<compare_request>();
  for (const auto& [name, file, says] :
       {std::tuple("OLD.jsonl", &request->before, "records of `tilewise bench -o` before the change"),
        std::tuple("NEW.jsonl", &request->after, "and after it, measured with the same words")})
    add_file_option(*command, name, *file, says, " ")->required();
  several(command->add_option("--fail-on", request->fail_on, "wrong, slower, unclear: exit 3 if a row is wrong, or 7"))
      ->option_text("WORD,...");
  command->add_flag("--json", request->json, "one JSON object on one line, also for errors");
  command->add_flag("-v,--verbose", request->verbose, "also rows that are the same or left out")->option_text(" ");
  command->footer(
      "new/old is the ratio of the median times, above 1 where NEW is slower, with its\n"
      "95% interval. A row is faster or slower if the whole interval lies beyond the\n"
      "noise: the largest of 1%, both runs' noise floors, what the peers beside it and\n"
      "its device's limits differ by, and what 95% of the rows on its device differ by\n"
      "between their two visits. It is the same if all of the interval lies within the\n"
      "noise, or within 1% and both floors, where these are at most 5%. All else is\n"
      "unclear: measure on a quieter machine, as `tilewise doctor` says, or longer,\n"
      "with --precision 0.5%. Or measure each build once more, in turns, into the same\n"
      "files: the runs of one build in a file are taken together, unless it had\n"
      "uncommitted changes. A row then differs only if each run in OLD differs from\n"
      "each in NEW, and visits and runs count with what nine tenths of the rows that\n"
      "take about as long differ by.\n"
      "A row is wrong if its result is, if it failed and did not before, or if its\n"
      "digest is another one than before, each in any run that is taken together.\n"
      "The last lines are the geometric means of all rows and of the peers.\n"
      "A variant may have another tuning in NEW if each file has only one of it.\n"
      "--fail-on may be repeated; unclear includes slower, and wrong outweighs both.\n"
      "\n"
      "Examples:\n"
      "  tilewise bench scan --device cpu -o old.jsonl\n"
      "  (the change)\n"
      "  tilewise bench scan --device cpu -o new.jsonl\n"
      "  tilewise compare old.jsonl new.jsonl\n"
      "  tilewise compare old.jsonl new.jsonl --fail-on wrong,slower --json");
  command->callback([&call, request] { call.run = [request] { return compare_files(*request); }; });
}

}  // namespace tilewise::cli
