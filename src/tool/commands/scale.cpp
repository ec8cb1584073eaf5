// SPDX-License-Identifier: Apache-2.0
// tilewise scale: speedup, cost and fitted laws over threads, ranks or devices, measured here or from records.
#include "lab/machine/environment.hpp"
#include "lab/plan/problems.hpp"
#include "lab/scale/plan.hpp"
#include "report/format.hpp"
#include "tool/analysed_rows.hpp"
#include "tool/bench/output.hpp"
#include "tool/drivers/device_use.hpp"
#include "tool/interrupt.hpp"
#include "tool/known_peers.hpp"
#include "tool/output.hpp"
#include "tool/ranks/voice.hpp"
#include "tool/record_input.hpp"
#include "tool/scale/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tilewise::cli {

namespace {

using report::scaling_curve;
using report::scaling_kind;

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

/// Curves have no points for them.
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
    nlohmann::ordered_json told{{"command", "scale"}, {"curves", nlohmann::ordered_json::array()}};
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
