// SPDX-License-Identifier: Apache-2.0
// tilewise compare: compares the records of two runs, from before and after a change.
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "report/compare/comparison.hpp"
#include "report/format.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/commands.hpp"
#include "tool/output.hpp"
#include "tool/rows.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
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

/// A ratio with three decimals if it is near 1: "0.987", "1.234".
std::string ratio_cell(double ratio) { return report::significant(ratio, ratio < 0.9995 ? 3 : 4); }

std::string interval_cell(const report::interval& ratio) {
  return ratio.low ? ratio_cell(*ratio.low) + " to " + ratio_cell(*ratio.high) : "none";
}

/// The variant, where it ran, and its tuning if there may be several or if it changed.
std::string name_of_row(const report::row& r) {
  const std::string name = r.is_limit() ? r.algorithm : r.variant.substr(r.variant.find('/') + 1);
  return name + " @" + r.device + (r.tuning.empty() ? "" : " " + r.tuning);
}

std::string line_of(const report::compared_case& c) {
  std::string name = name_of_row(*c.after);
  if (c.before != nullptr && c.before->tuning != c.after->tuning) name += " (was " + c.before->tuning + ")";
  std::string text = wrapped(name);
  const report::interval* const ratio = c.relative ? &c.relative->ratio : c.ratio ? &*c.ratio : nullptr;
  const double noise_floor = c.relative ? c.relative->noise_floor : c.noise_floor;
  if (ratio != nullptr)
    text += right(report::duration(c.before->kernel->median), 8) + right(report::duration(c.after->kernel->median), 9) +
            right(ratio_cell(ratio->median), 8) + right(interval_cell(*ratio), 17) +
            right(report::significant(100 * noise_floor, 2) + "%", 6);
  text += "\n";
  if (c.relative) text += "    relative to " + report::short_name(std::string(c.relative->to)) + "\n";
  return c.why.empty() ? text : text + "    " + folded(c.why, 76, "    ") + "\n";
}

/// Prints a heading line when the next group begins.
class headings {
 public:
  std::string before(const report::row& of) {
    if (told_ != nullptr && *told_ == of.group) return "";
    told_ = &of.group;
    return coloured(folded(of.group + (of.mode == "hot" ? "" : " " + of.mode), 80, "  "), colour::dim) + "\n";
  }

 private:
  const std::string* told_ = nullptr;
};

std::string title_of(verdict v) {
  if (v == verdict::wrong) return coloured("WRONG", colour::red);
  if (v == verdict::slower) return coloured("SLOWER", colour::red);
  return v == verdict::faster ? coloured("FASTER", colour::green) : v == verdict::same ? "SAME" : "UNCLEAR";
}

std::string block_of(verdict v, const report::comparison& of) {
  if (of.count(v) == 0) return "";
  std::string text = "\n" + title_of(v) + "\n";
  headings told;
  for (const report::compared_case& c : of.cases)
    if (c.is == v) text += told.before(*c.after) + line_of(c);
  return text;
}

std::string left_out_block(const report::comparison& of) {
  if (of.left_out.empty()) return "";
  std::string text = "\nNOT COMPARED\n";
  headings told;
  for (const report::left_out_case& c : of.left_out)
    text += told.before(*c.what) + folded(name_of_row(*c.what) + ": " + c.why, 80, "  ") + "\n";
  return text;
}

std::string rows_in_words(std::size_t rows) { return report::count(rows) + (rows == 1 ? " row" : " rows"); }

std::string mean_in_words(const report::comparison& of, bool of_peers, const std::string& whose) {
  const auto mean = mean_of(of.cases, of_peers);
  if (!mean) return "";
  return "new/old of " + rows_in_words(mean->rows) + " of " + whose + ": " + ratio_cell(mean->value.median) + " (" +
         interval_cell(mean->value) + ")\n";
}

/// Warns about single runs: a difference may come from the run as a whole, and a real one may be hidden by that.
std::string runs_in_words(const report::comparison& of) {
  const std::size_t before = of.before.most_runs, after = of.after.most_runs;
  if (before > 1 || after > 1)
    return "Of " + report::count(before) + (before == 1 ? " run" : " runs") + " before and " + report::count(after) +
           " after.\n";
  const bool differ = of.count(verdict::slower) + of.count(verdict::faster) > 0;
  if (!differ && of.count(verdict::unclear) <= of.count(verdict::same)) return "";
  return "Of one run each. Two of each build tell more, and surely: measure with OLD and\n"
         "NEW again, which adds to their records, and compare again.\n";
}

std::string last_lines(const report::comparison& of) {
  std::string text = "\n" + rows_in_words(of.cases.size()) + ":";
  for (const verdict v : report::all_verdicts)
    text += (v == verdict::wrong ? " " : ", ") + report::count(of.count(v)) + " " + std::string(name_of(v));
  text += "\n";
  std::map<std::string, std::size_t> reasons;
  for (const report::left_out_case& c : of.left_out) ++reasons[c.why];
  for (const auto& [why, rows] : reasons)
    text += folded(rows_in_words(rows) + " not compared: " + why, 80, "  ") + "\n";
  return text + mean_in_words(of, false, "Tilewise") + mean_in_words(of, true, "peers") + runs_in_words(of);
}

/// Other differences between the files, the cases by verdict in lines of at most 80 columns, and the counts with the
/// mean ratio. Cases that are the same or left out are only counted, unless `all` is set.
std::string comparison_table(const report::comparison& of, bool all) {
  std::string text;
  for (const std::string& remark : of.remarks) text += coloured(folded(remark, 80, "  "), colour::red) + "\n";
  text += left("variant @device", label_width + 1) + "     old      new new/old     95% interval noise\n";
  for (const verdict v : report::all_verdicts)
    if (all || v != verdict::same) text += block_of(v, of);
  return text + (all ? left_out_block(of) : "") + last_lines(of);
}

/// The verdicts that make the command fail. `unclear` is one of them, since the row may be slower.
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

ordered_json to_json(const report::relative_time& of) {
  return {{"to", of.to},
          {"ratio", of.ratio.median},
          {"ci95_lo", to_json(of.ratio.low)},
          {"ci95_hi", to_json(of.ratio.high)},
          {"noise_floor", of.noise_floor}};
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
  fields["relative"] = c.relative ? to_json(*c.relative) : ordered_json();
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
      "Where it is steadier, a row's time relative to a peer counts instead, as its\n"
      "second line says: other load slows both alike. A difference must then show\n"
      "relative to most peers of the problem.\n"
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
