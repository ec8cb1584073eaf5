// SPDX-License-Identifier: Apache-2.0
// tilewise scale: shows speedup, cost and fitted laws over threads, ranks or devices, from records or measured here.
#include "lab/machine/environment.hpp"
#include "lab/plan/problems.hpp"
#include "lab/scale/plan.hpp"
#include "report/format.hpp"
#include "report/scale/scaling.hpp"
#include "tool/bench/output.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/drivers/device_use.hpp"
#include "tool/interrupt.hpp"
#include "tool/known_peers.hpp"
#include "tool/output.hpp"
#include "tool/ranks/voice.hpp"
#include "tool/rows.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

namespace tilewise::cli {

namespace {

using nlohmann::ordered_json;
using report::interval;
using report::scaling_curve;
using report::scaling_fit;
using report::scaling_kind;
using report::scaling_point;

constexpr std::size_t columns = 80;

/// Half the width of an interval over its value, "1.2%"; empty if there is no interval.
std::string half_width(const interval& value) {
  if (!value.low || !value.high || *value.low == *value.high) return "";
  return report::significant(50 * (*value.high - *value.low) / value.median, 2) + "%";
}

std::string number_cell(const std::optional<interval>& value, std::size_t width) {
  return right(value ? report::significant(value->median, 3) : "-", width);
}
std::string width_cell(const std::optional<interval>& value) { return right(value ? half_width(*value) : "", 7); }

/// Shows the interval itself: for values near 0 a share of the value means nothing.
std::string karp_flatt_cell(const std::optional<interval>& value) {
  if (!value) return "";
  const std::string text = report::significant(value->median, 2);
  return value->low && value->high ? text + "+-" + report::significant((*value->high - *value->low) / 2, 1) : text;
}

std::string line_of_point(const scaling_point& at) {
  const std::string efficiency = at.efficiency ? report::significant(100 * at.efficiency->median, 3) + "%" : "-";
  std::string text = right(report::count(at.p), 5) + right(report::duration(at.what->kernel->median), 9) +
                     width_cell(at.what->kernel) + number_cell(at.over_one, 8) + width_cell(at.over_one) +
                     number_cell(at.over_best, 8) + width_cell(at.over_best) + right(efficiency, 7) +
                     number_cell(at.cost, 7) + right(karp_flatt_cell(at.serial_fraction), 15);
  text.erase(text.find_last_not_of(' ') + 1);
  if (at.is_superlinear) text += "\n      cache: more than p times as fast as one";
  if (at.exchange) text += "\n      exchanging: " + report::percent(*at.exchange) + " of the time";
  return text + "\n";
}

std::string filled_lines(const std::string& sentence) {
  if (sentence.empty()) return "";
  std::istringstream words(sentence);
  std::string lines, line;
  for (std::string word; words >> word; line += word) {
    if (line.empty()) continue;
    if (line.size() + 1 + word.size() > columns)
      lines += std::exchange(line, "  ") + "\n";
    else
      line += ' ';
  }
  return lines + line + "\n";
}

/// "scan.f32  n = 16,777,217  op=sum kind=inclusive init=none"
std::string title_of_curve(const scaling_curve& of) {
  const report::row& r = of.largest();
  const bool is_weak = of.kind == scaling_kind::weak;
  const std::string size = is_weak ? of.points.front().what->size() + " for p = " + report::count(of.points.front().p) +
                                         ", p times the first size"
                                   : r.size();
  return r.algorithm + "." + r.dtype + "  n = " + size + "  " + report::with_data(r.settings, r.asked_data) +
         (r.mode == "hot" ? "" : "  " + r.mode);
}

std::string what_ran(const scaling_curve& of) {
  const report::row& r = of.largest();
  return std::string(of.kind == scaling_kind::weak ? "weak" : "strong") + ": " + r.variant + " on " + of.processors +
         (r.tuning.empty() ? "" : ", " + r.tuning) + ", " + r.machine;
}

std::string what_is_best(const scaling_curve& of) {
  if (of.best == nullptr) return "No program for one processor was measured, so there is no T_s.";
  return "best for one, T_s: " + of.best->variant + " @" + of.best->device + (of.best->peer ? " (peer)" : "") + ", " +
         report::duration(of.best->kernel->median);
}

std::string what_fits(const scaling_curve& of) {
  const auto fitted = std::count_if(of.points.begin(), of.points.end(), [](const auto& p) { return p.is_fitted(); });
  if (of.fits.empty())
    return filled_lines("No fit: a law needs times with intervals at " +
                        std::to_string(report::least_points(report::scaling_law::amdahl)) +
                        " numbers of processors or more, and there are " + std::to_string(fitted) + ".");
  std::string text;
  for (const scaling_fit& f : of.fits)
    text += filled_lines(report::fit_finding(f) + "; misses times by " + report::percent(f.misfit) +
                         ", those left out of the fit by " + report::percent(f.prediction_error) + ".");
  return text;
}

ordered_json interval_json(const std::optional<interval>& value) {
  if (!value) return nullptr;
  ordered_json told{{"value", value->median}, {"ci95", nullptr}};
  if (value->low && value->high) told["ci95"] = {*value->low, *value->high};
  return told;
}

ordered_json to_json(const scaling_point& at) {
  return {{"p", at.p},
          {"n", at.what->n},
          {"time_ns", interval_json(at.what->kernel)},
          {"speedup_over_one", interval_json(at.over_one)},
          {"speedup_over_best", interval_json(at.over_best)},
          {"efficiency", interval_json(at.efficiency)},
          {"cost_over_best", interval_json(at.cost)},
          {"karp_flatt", interval_json(at.serial_fraction)},
          {"exchange_share", at.exchange ? ordered_json(*at.exchange) : ordered_json()},
          {"note", at.is_superlinear ? ordered_json("cache") : ordered_json()}};
}

ordered_json to_json(const scaling_fit& of) {
  const bool is_usl = of.law == report::scaling_law::usl;
  ordered_json told{{"law", name_of(of.law)}, {is_usl ? "contention" : "serial", interval_json(of.serial)}};
  if (is_usl) {
    told["coherency"] = interval_json(of.coherency);
    told["peak_p"] = interval_json(of.peak);
  }
  told["one_ns"] = of.one_ns;
  told["rmse"] = of.misfit;
  told["leave_one_out"] = of.prediction_error;
  return told;
}

template <class List>
ordered_json all_to_json(const List& list) {
  ordered_json told = ordered_json::array();
  for (const auto& one : list) told.push_back(to_json(one));
  return told;
}

/// One line for each number of processors, then the findings; at most 80 columns.
std::string scale_block(const scaling_curve& of) {
  std::string text = filled_lines(title_of_curve(of)) + filled_lines(what_ran(of)) + filled_lines(what_is_best(of)) +
                     "    p     time    +-%    /T_1    +-%    /T_s    +-% effic.   cost     Karp-Flatt\n";
  for (const scaling_point& point : of.points) text += line_of_point(point);
  text += filled_lines(report::cost_finding(of)) + filled_lines(report::karp_flatt_finding(of)) +
          filled_lines(report::crowding_finding(of));
  return text + what_fits(of) + filled_lines(report::extrapolation_finding(of));
}

/// Times are in nanoseconds, intervals are [low, high].
ordered_json to_json(const scaling_curve& of) {
  const report::row& r = of.largest();
  ordered_json told{{"scaling", of.kind == scaling_kind::weak ? "weak" : "strong"},
                    {"machine", r.machine},
                    {"algorithm", r.algorithm},
                    {"variant", r.variant},
                    {"processors", of.processors},
                    {"dtype", r.dtype},
                    {"shape", of.points.front().what->shape},
                    {"settings", r.settings},
                    {"data", r.data},
                    {"tuning", r.tuning},
                    {"mode", r.mode},
                    {"best", nullptr}};
  if (of.best != nullptr)
    told["best"] = {{"variant", of.best->variant},
                    {"device", of.best->device},
                    {"peer", of.best->peer},
                    {"time_ns", interval_json(of.best->kernel)}};
  told["points"] = all_to_json(of.points);
  told["fits"] = all_to_json(of.fits);
  if (!of.fits.empty()) {
    const std::uint64_t p = report::extrapolation * of.last_fitted();
    told["extrapolated"] = {{"law", name_of(of.fits.front().law)},
                            {"p", p},
                            {"speedup_over_one", of.fits.front().speedup(static_cast<double>(p))}};
  }
  return told;
}

struct scale_request {
  common_options common;
  std::vector<std::string> algorithms, from;
  std::uint64_t n = 0;
  double max_time_s = 5;
  std::string records;
  bool is_weak = false;

  scaling_kind kind() const { return is_weak ? scaling_kind::weak : scaling_kind::strong; }
};

std::vector<const report::row*> wanted_of(const report::row_table& rows, const scale_request& asked) {
  std::vector<const report::row*> wanted;
  for (const report::row& r : rows)
    if (asked.algorithms.empty() ||
        std::find(asked.algorithms.begin(), asked.algorithms.end(), r.algorithm) != asked.algorithms.end())
      wanted.push_back(&r);
  return wanted;
}

/// Says which rows are implausible, since they are no points of a curve.
void note_implausible(const std::vector<const report::row*>& rows) {
  std::size_t left_out = 0;
  const report::row* first = nullptr;
  for (const report::row* r : rows) {
    if (r->is_limit() || !r->timed() || r->plausible) continue;
    ++left_out;
    if (first == nullptr) first = r;
  }
  if (first == nullptr) return;
  note("tilewise: " + report::count(left_out) +
       (left_out == 1 ? " time is left out: " : " times are left out, the first: ") + first->variant + " of " +
       first->shape + " on " + first->device + " " + first->doubt());
}

void print_curves(const std::vector<scaling_curve>& curves, bool as_json) {
  if (as_json) {
    ordered_json told{{"command", "scale"}, {"curves", ordered_json::array()}};
    for (const scaling_curve& c : curves) told["curves"].push_back(to_json(c));
    return print_json(told);
  }
  for (const scaling_curve& c : curves) print((&c == &curves.front() ? "" : "\n") + scale_block(c));
}

exit_code analyse(const scale_request& asked) {
  for (const std::string& name : asked.algorithms) registry::find_algorithm(name);
  const report::row_table rows = read_rows(asked.from);
  const std::vector<const report::row*> wanted = wanted_of(rows, asked);
  note_implausible(wanted);
  const std::vector<scaling_curve> curves = report::scaling_curves(wanted, asked.kind());
  if (curves.empty())
    throw error(errc::io, "among " + report::count(rows.size()) + " records no variant was measured right with two " +
                              (asked.is_weak ? "numbers of threads or ranks p at p times one size; without --weak, at "
                                               "one size"
                                             : "numbers of threads or ranks at one size; --weak looks for sizes that "
                                               "grow with them"));
  print_curves(curves, asked.common.json);
  return exit_code::ok;
}

exit_code measure(const scale_request& asked, const std::vector<std::string>& argv) {
  require_one_process("scale");
  if (!lab::is_release_build()) note("tilewise: WARNING: this is not a Release build; its times say nothing");
  add_known_peers();
  const auto plan = lab::make_scaling_plan({.algorithms = asked.algorithms,
                                            .on = open_device(asked.common),
                                            .threads = asked.common.threads,
                                            .n = asked.n,
                                            .is_weak = asked.is_weak});
  take_interrupts();
  analysed_rows output(asked.records, asked.common.quiet, argv);
  output.measure(plan, "normal", asked.max_time_s);
  const std::vector<scaling_curve> curves = report::scaling_curves(wanted_of(output.rows(), asked), asked.kind());
  print_curves(curves, asked.common.json);
  if (curves.empty() && !interrupt_requested())
    note("tilewise: fewer than two numbers of processors have a right time that can be true");
  return judged(output.all());
}

}  // namespace

void add_scale(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("scale", "speedup over threads or devices, with fitted laws");
  const auto asked = std::make_shared<scale_request>();
  asked->common.device = "cpu";
  command->add_option("ALGORITHM", asked->algorithms, "such as scan; all of them if none is named")->option_text("...");
  command->add_flag("--weak", asked->is_weak, "let the work grow with p; see below");
  CLI::Option* from = several(command->add_option("--from", asked->from, "analyse these records; measure nothing"));
  from->option_text("FILE,...")->check(file_name());
  const std::vector<CLI::Option*> of_measuring{
      command->add_option("--device", asked->common.device, "cpu, cpu:openmp, or a group: cuda:*, 4*cpu:serial")
          ->option_text("NAME"),
      command->add_option("--n", asked->n, "elements: 1e6, 64K = 65536; for matrices the side")
          ->option_text("N")
          ->transform(number_of_elements(1)),
      add_max_time(*command, asked->max_time_s),
      add_file_option(*command, "-o", asked->records, "append one JSON record per row", "FILE.jsonl")};
  add_team_options(*command, asked->common);
  for (CLI::Option* option : of_measuring) option->excludes(from);
  for (const char* name : {"--threads", "--time-limit"}) command->get_option(name)->excludes(from);
  command->add_flag("--json", asked->common.json, "one JSON object on one line, also for errors");
  command->add_flag("-q,--quiet", asked->common.quiet, "no progress lines");
  command->footer(
      "Results are checked first. Then the program that auto takes is timed with p = 1,\n"
      "2, 3, 4, 6, 8, 12 ... threads, or devices of the group, up to all; --threads is\n"
      "the most. n is fixed: by default the first usual size that no cache holds. All p\n"
      "alternate, for at most 5 seconds each unless --max-time says otherwise. With\n"
      "--weak the first size is p times that of one: elements, rows of a matrix, image\n"
      "or field; each p is then measured by itself. polymul has no weak scaling, since\n"
      "its work is not in proportion to its size.\n"
      "/T_1 is the speedup over the same program with p = 1, /T_s over the best program\n"
      "for one processor, peers included where they are built; +-% is half a 95%\n"
      "interval. Efficiency is /T_1 over p. The cost is p T(p) over T_s: while it stays\n"
      "within a constant, the program is work-optimal. Karp-Flatt is the serial part by\n"
      "that point alone. The share of exchanging is from a pass of its own.\n"
      "Laws: Amdahl's from 4 numbers of processors on, Gunther's universal scalability\n"
      "law (USL) from 6; with --weak, Gustafson's. The one that best predicts a point\n"
      "from the others comes first.\n"
      "Ranks of mpirun, and other machines: `bench` measures each number of them into a\n"
      "file of records, and --from reads such files.\n"
      "\n"
      "Examples:\n"
      "  tilewise scale scan matmul -o scaling.jsonl\n"
      "  tilewise scale diffuse --weak --max-time 2\n"
      "  tilewise scale sort --device 'cuda:*'\n"
      "  for p in 1 2 4 8; do mpirun -n $p tilewise bench scan --n 16777217 \\\n"
      "    --device cpu:serial -o ranks.jsonl; done; tilewise scale --from ranks.jsonl");
  command->callback([&call, asked] {
    call.run = [&call, asked] { return asked->from.empty() ? measure(*asked, call.argv) : analyse(*asked); };
  });
}

}  // namespace tilewise::cli
