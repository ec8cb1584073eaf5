// SPDX-License-Identifier: Apache-2.0
// tilewise bench: checks and then measures. The table goes to standard output, records and report to files.
#include "backend/group/mpi_world.hpp"
#include "base/nearest.hpp"
#include "io/replacement_file.hpp"
#include "lab/bench/agreement.hpp"
#include "lab/bench/operand_sets.hpp"
#include "lab/machine/environment.hpp"
#include "lab/plan/plan.hpp"
#include "lab/plan/problems.hpp"
#include "lab/roofline/measure.hpp"
#include "registry/catalog.hpp"
#include "report/format.hpp"
#include "tool/arrays/file.hpp"
#include "tool/arrays/file_job.hpp"
#include "tool/bench/against.hpp"
#include "tool/bench/documents.hpp"
#include "tool/bench/isolated.hpp"
#include "tool/bench/part.hpp"
#include "tool/bench/table.hpp"
#include "tool/commands.hpp"
#include "tool/drivers/device_use.hpp"
#include "tool/interrupt.hpp"
#include "tool/known_peers.hpp"
#include "tool/output.hpp"
#include "tool/ranks/voice.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace tilewise::cli {

namespace {

/// The value with this name. Throws `invalid_argument` with the nearest names; `what` says what they are.
template <class T>
T parse_name(const std::string& text, std::span<const T> all, const char* what) {
  std::vector<std::string> names;
  for (T value : all) {
    if (text == name_of(value)) return value;
    names.emplace_back(name_of(value));
  }
  throw error(errc::invalid_argument,
              "there is no " + std::string(what) + " '" + text + "';" + base::nearest(text, names));
}

struct bench_request {
  device_list_options devices;
  problem_options problems;
  std::vector<std::string> selectors;
  std::string preset = "quick", variant, data, tuning, mode = "hot", precision, records, report, other;
  double max_time_s = 0;
  bool dry_run = false, quiet = false, isolate = false;
  std::string part;  // the child's part, with --isolate
};

/// Parses a percentage: "1%" or "0.5".
double parse_precision(const std::string& text) {
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || (*end != '\0' && std::string_view(end) != "%") || !(percent > 0 && percent <= 50))
    throw error(errc::invalid_argument, "--precision '" + text + "' is not a share such as 1% (above 0, at most 50%)");
  return percent / 100;
}

lab::request plan_request(const bench_request& asked) {
  lab::request wanted;
  wanted.base = lab::find_preset(asked.preset);
  wanted.selectors = asked.selectors;
  wanted.what = parse_name<lab::mode>(asked.mode, lab::all_modes, "mode");
  wanted.variant = asked.variant;
  if (!asked.data.empty())
    wanted.data = parse_name<lab::data_class>(asked.data, lab::measured_data_classes, "data for measuring");
  wanted.tuning = asked.tuning;
  wanted.public_calls = asked.devices.threads == 0;
  wanted.documents = documents();
  pose(asked.problems, wanted);
  wanted.devices = open_devices(asked.devices);
  wanted.names_devices = asked.devices.names != device_list_options{}.names;
  return wanted;
}

lab::measuring measuring_of(const bench_request& asked, const lab::preset& base) {
  lab::measuring how;
  how.rule = base.rule;
  how.what = parse_name<lab::mode>(asked.mode, lab::all_modes, "mode");
  how.on_files = run_file_job;
  how.copies = plain_copies_of_peers();
  if (!asked.precision.empty()) how.rule.precision = parse_precision(asked.precision);
  if (asked.max_time_s > 0) how.rule.max_ns = asked.max_time_s * 1e9;
  how.rule.min_ns = std::min(how.rule.min_ns, how.rule.max_ns);
  how.hooks.interrupted = [] { return lab::as_first_rank(interrupt_requested() ? 1 : 0) != 0; };
  if (backend::group::is_mpi_process()) how.hooks.on_failure = [](const std::exception&) { throw; };
  return how;
}

void warn_of_unfit_build() {
  if (!lab::is_release_build())
    note(
        "tilewise: WARNING: this is not a Release build; its times say nothing about Tilewise. Configure with "
        "-DCMAKE_BUILD_TYPE=Release");
}

/// "at most about 9 minutes"
std::string time_said(const lab::pace& kept) {
  const double s = kept.said_ns() * 1e-9;
  return "at most about " + (s < 90 ? report::count(static_cast<std::uint64_t>(s) + 1) + " s"
                                    : report::count(static_cast<std::uint64_t>(s / 60 + 0.5)) + " minutes");
}

exit_code print_plan(const std::vector<lab::group>& plan, const lab::measuring& how, bool isolate) {
  for (const lab::group& g : plan) {
    print(g.name() + ": " + report::bytes(static_cast<double>(lab::operand_bytes(g.problem))) + " on the device\n");
    for (const lab::row& r : g.rows)
      print("  " + r.id() + " @" + r.place() + (r.skip.empty() ? "" : " (skipped: " + r.skip + ")") + "\n");
  }
  print(std::to_string(plan.size()) + " groups, " + time_said(lab::pace(plan, how, 0, isolate)) + "\n");
  return exit_code::ok;
}

/// "142 rows: 8 algorithms, 41 variants, 16 sizes, f32 and i32"
std::string extent_of(const std::vector<lab::group>& plan) {
  std::set<std::string> variants, sizes, types;
  std::set<const registry::algorithm*> algorithms;
  std::size_t rows = 0;
  for (const lab::group& g : plan) {
    rows += g.rows.size();
    for (const lab::row& r : g.rows) variants.insert(r.id());
    algorithms.insert(g.problem.what);
    sizes.insert(std::string(g.problem.what->name) + registry::to_string(g.problem.shape));
    types.emplace(name_of(g.problem.type));
  }
  std::string text = number_of(rows, "row") + ": " + number_of(algorithms.size(), "algorithm") + ", " +
                     number_of(variants.size(), "variant") + ", " + number_of(sizes.size(), "size") + ", ";
  for (const std::string& type : types) text += (type == *types.begin() ? "" : " ") + type;
  return text;
}

/// Says what a first look leaves out.
std::string beyond_first_look(const std::vector<lab::group>& plan, lab::request wanted) {
  wanted.base = lab::find_preset("normal");
  return "This first look covered " + extent_of(plan) + ".\n--preset normal covers " +
         extent_of(lab::make_plan(wanted)) + ".\n";
}

/// Says what will be measured, and how long it takes.
std::string coming_of(const std::vector<lab::group>& plan, const lab::pace& kept) {
  std::set<std::string_view> documents;
  for (const lab::group& g : plan)
    if (g.from != nullptr) documents.insert(g.from->document);
  std::string of;
  if (!documents.empty())
    of = ", of " + std::to_string(documents.size()) + (documents.size() == 1 ? " document" : " documents");
  return "tilewise: " + extent_of(plan) + of + "; " + time_said(kept) + ", and longer where a driver compiles";
}

/// A first look also compares short times on a GPU with a launch. The launch is measured both before and after
/// everything else, and the shorter time counts, so that one bad moment does not decide.
bool has_launches(const lab::request& wanted, const lab::measuring& how) {
  return wanted.is_first_look() && how.what == lab::mode::hot;
}

void measure_launches(std::span<const device_handle> devices, const lab::measuring& how, bench_output& output) {
  for (const device_handle& on : devices)
    for (record::result& r : lab::measure_launch(*on, how.hooks)) output.keep(std::move(r));
}

void measure_here(const std::vector<lab::group>& plan, lab::measuring how, lab::pace& kept, bench_output& output) {
  how.hooks.before_sample = [&](const lab::contender& next, std::size_t round) {
    output.tell("round " + std::to_string(round) + ", " + next.name);
  };
  lab::bench_events events;
  events.before_visit = [&](const lab::group& g, std::size_t step, std::size_t steps) {
    output.begin(step, steps, g.name());
  };
  events.on_first_visit = [&](std::span<const lab::measured> rows) { output.hold(rows); };
  events.before_course = [&](const lab::row& by) { output.tell("the course by " + by.id() + " @" + by.place()); };
  events.on_group = [&](const lab::group& g, std::span<const lab::measured> rows) { output.keep(g.title(), rows); };
  lab::run_bench(plan, how, events, &kept);
}

/// The text after the verdict.
std::string closing_of(const std::vector<lab::group>& plan, const lab::request& wanted) {
  if (backend::group::is_mpi_process())
    return "\nPeers, the definition and single devices are measured without mpirun.\n";
  std::string text;
  if (wanted.base.of_documents) text += seeds_left_out(lab::left_out(plan, wanted));
  if (wanted.is_first_look()) text += beyond_first_look(plan, wanted);
  return text;
}

/// Names the peers that the environment limits and that were not measured for that (peers::limited_by). They would seem
/// to be beaten. Empty if there are none.
std::string limited_peers(const std::vector<lab::group>& plan, const lab::request& wanted) {
  if (backend::group::is_mpi_process()) return "";
  std::map<std::string, std::string> by_reason;
  for (const auto& [id, why] : lab::left_out(plan, wanted))
    if (why.ends_with("unset that to measure it")) by_reason[why] += (by_reason[why].empty() ? "" : ", ") + id;
  std::string text;
  for (const auto& [why, ids] : by_reason)
    text += (text.empty() ? "tilewise: not measured: " : "; ") + ids + ": " + why;
  return text;
}

/// Checks that all ranks have the same plan: ranks with different devices may have different variants.
void require_same_plan(const std::vector<lab::group>& plan) {
  std::string rows;
  for (const lab::group& g : plan)
    for (const lab::row& r : g.rows)
      rows += g.name() + r.id() + registry::to_string(r.tuning, r.variant->tuning) + r.skip;
  const auto own = static_cast<double>(std::hash<std::string>{}(rows));
  if (lab::as_first_rank(own) == own) return;
  throw error(errc::unsupported,
              "this rank's device has other variants than the first's; name with --device one that all ranks have");
}

std::vector<lab::group> plan_of(const lab::request& wanted) {
  std::vector<lab::group> plan = lab::make_plan(wanted);
  if (plan.empty())
    throw error(errc::unsupported,
                "none of the selected variants runs on the selected devices with these types; "
                "`tilewise list` shows all of them");
  require_same_plan(plan);
  return plan;
}

/// The request for this rank. Only the first rank prints and writes.
bench_request for_this_rank(bench_request asked) {
  if (!backend::group::is_mpi_process()) return asked;
  if (asked.isolate) require_one_process("bench --isolate");
  if (!asked.other.empty()) require_one_process("bench --against");
  if (lab::is_whole_job(parse_name<lab::mode>(asked.mode, lab::all_modes, "mode")))
    require_one_process("bench --mode " + asked.mode);
  if (!is_first_rank()) asked.records = asked.report = "";
  return asked;
}

/// Does the work of a child of `bench --isolate` or `--against`.
exit_code do_part(const bench_request& asked) {
  const bench_part part = parse_part(asked.part);
  add_known_peers();
  const lab::request wanted = plan_request(asked);
  const lab::measuring how = measuring_of(asked, wanted.base);
  const std::vector<lab::group> plan = plan_of(wanted);
  if (part.group && *part.group >= plan.size()) throw error(errc::invalid_argument, "the plan has no such --part");
  if (part.group || part.of_launches || part.is_turn) take_interrupts();
  if (part.group)
    tell_group(plan, *part.group, part.without, how);
  else if (part.of_launches)
    tell_launches(wanted.devices, how);
  else if (part.is_turn)
    tell_turn(plan, how);
  else
    tell_plan(plan, how, has_launches(wanted, how), coming_of(plan, lab::pace(plan, how, 0, true)),
              {closing_of(plan, wanted), limited_peers(plan, wanted)});
  return exit_code::ok;
}

std::vector<std::string> words_of_against(const bench_request& asked) {
  std::vector<std::string> words{"--mode", asked.mode};
  if (asked.devices.threads != 0) words.insert(words.end(), {"--threads", std::to_string(asked.devices.threads)});
  return words;
}

exit_code bench(const bench_request& told, const std::vector<std::string>& argv) {
  if (!told.part.empty()) return do_part(told);
  const bench_request asked = for_this_rank(told);
  require_distinct_outputs(std::array<std::string, 3>{asked.records, asked.report, io::standard_stream});
  if (!asked.report.empty()) io::try_output(asked.report);  // fails now, not after an hour
  warn_of_unfit_build();
  add_known_peers();
  const bench_outputs outputs{asked.records, asked.report, lab::find_preset(asked.preset).of_documents, asked.quiet};
  if (asked.isolate && !asked.dry_run) return bench_isolated(outputs, argv, asked.devices.time_limit_s);
  const lab::request wanted = plan_request(asked);
  const lab::measuring how = measuring_of(asked, wanted.base);
  const std::vector<lab::group> plan = plan_of(wanted);
  if (asked.dry_run) return print_plan(plan, how, asked.isolate);
  take_interrupts();
  if (!asked.other.empty()) return bench_against(asked.other, plan, words_of_against(asked), asked.max_time_s);
  bench_output output(outputs, argv);
  lab::pace kept(plan, how);
  if (!asked.quiet) note(coming_of(plan, kept));
  if (has_launches(wanted, how)) measure_launches(wanted.devices, how, output);
  measure_here(plan, how, kept, output);
  if (has_launches(wanted, how) && !interrupt_requested()) measure_launches(wanted.devices, how, output);
  const exit_code result = output.finish();
  if (!interrupt_requested()) print_last({closing_of(plan, wanted), limited_peers(plan, wanted)});
  return static_cast<exit_code>(lab::as_first_rank(static_cast<double>(result)));  // after the first rank has written
}

void add_what(CLI::App& command, bench_request& to) {
  command.add_option("SELECTOR", to.selectors, "an algorithm, a variant or a pattern: 'scan/cuda:*'")
      ->option_text("...");
  command.add_option("--preset", to.preset, "quick, normal, thorough or seeds")->option_text("NAME");
  add_device_list_options(command, to.devices);
  add_problem_options(command, to.problems);
  command.add_option("--data", to.data, "uniform, wide, sorted, equal, subnormal")->option_text("NAME");
  command.add_option("--variant", to.variant, "only variants with this name")->option_text("NAME");
  command.add_option("--tuning", to.tuning, "such as \"group_size=64\", or all")->option_text("TEXT");
}

void add_how(CLI::App& command, bench_request& to) {
  command.add_option("--mode", to.mode, "hot, cold, host_to_host, file_to_file; see below")->option_text("NAME");
  command.add_option("--precision", to.precision, "how precisely to know the median; default 1%")->option_text("P%");
  add_max_time(command, to.max_time_s);
  CLI::Option* const records =
      add_file_option(command, "-o", to.records, "append one JSON record per row", "FILE.jsonl");
  CLI::Option* const page =
      add_file_option(command, "--report", to.report, "write the page that explains the records", "FILE.html");
  CLI::Option* const isolate =
      command.add_flag("--isolate", to.isolate, "a process for each group: a crash costs one row")->option_text(" ");
  command.add_option("--against", to.other, "another build, by turns with this one; see below")
      ->option_text("TOOL")
      ->excludes(records)
      ->excludes(page)
      ->excludes(isolate);
  command.add_flag("--dry-run", to.dry_run, "print what would be measured");
  command.add_option("--part", to.part, "what a child of --isolate or --against does")->group("");
  command.add_flag("-q,--quiet", to.quiet, "no progress lines");
}

}  // namespace

void add_bench(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("bench", "the speed of every variant, bits checked first");
  auto asked = std::make_shared<bench_request>();
  add_what(*command, *asked);
  add_how(*command, *asked);
  command->footer(
      "The columns of what is printed:\n"
      "bits: = the definition's, ~ another order, within its bound. A wrong result has\n"
      "no time, and the exit code is 3. Times are medians, +-% half their 95% interval.\n"
      "Each problem is measured at two times, up to a minute apart, each time with half\n"
      "of a row's time. The interval covers both medians, because other programs may\n"
      "slow one of them. Records come after the second visit; a call as long as all\n"
      "samples is made at the first alone.\n"
      "rate: in the unit shown with the problem; limit: its share of the device's own\n"
      "copy or multiply-adds, ? where the time of that is itself in doubt: it has no\n"
      "interval, or one wider than 5 %; - if it is exceeded all the same. ! marks a\n"
      "time that cannot be true: by that limit its rate is impossible, or it exceeds\n"
      "the time from host to host. speedup: over the standard library on one thread,\n"
      "or over the definition (serial) where it has none.\n"
      "The preset quick, the default, measures two sizes of one type: what each device\n"
      "would choose, the peers, and all variants of matmul at one size; of a selection\n"
      "it measures everything. normal adds types, sizes and the other variants;\n"
      "thorough has all types and operators, with up to ten seconds for each row.\n"
      "The preset seeds repeats the experiments of the documents that Tilewise started\n"
      "from, with every variant; their figures appear next to ours, marked by a letter.\n"
      "--mode cold flushes the caches before each call. host_to_host and file_to_file\n"
      "time whole jobs, all devices in one table: from the host's memory, or from .npy\n"
      "files in memory as the tool's commands do it, and back; a device is open and its\n"
      "code compiled before. Peers get plain code: files read whole and written by one\n"
      "thread, and the runtime's own copies. The limit is the link both ways at once,\n"
      "or the same files read and written by all threads.\n"
      "Under mpirun its processes are measured together, as ranks of a group; the first\n"
      "prints and writes. --preset seeds then adds the rows of as many processes.\n"
      "--against runs another build of this tool in turns with this one, each row in\n"
      "processes of its own, and judges the ratios of the pairs: what disturbs the\n"
      "machine disturbs both alike. Exit 7 if this one is slower. A row takes seconds,\n"
      "of 2^24 elements half a minute; a longer --max-time takes more pairs. Peers and\n"
      "records are left out.\n"
      "With --isolate a child process measures each problem on each device. A row that\n"
      "crashes, loses its device or takes no step for --time-limit has failed, exit 8;\n"
      "the others are measured again without it.\n"
      "\n"
      "Examples:\n"
      "  tilewise bench --report report.html\n"
      "  tilewise bench scan --n 67108865 --device cpu --device cuda:0\n"
      "  tilewise bench matmul --shape 4096x4096x512 --dtype f32,f64\n"
      "  tilewise bench sort --n 1048576 --set order=descending,payload=indices\n"
      "  tilewise bench 'scan/opencl:*' --tuning all -o tuning.jsonl\n"
      "  tilewise bench scan --n 268435456 --mode file_to_file -o jobs.jsonl\n"
      "  tilewise bench polymul --preset seeds -o seeds.jsonl\n"
      "  mpirun -n 4 tilewise bench polymul --preset seeds -o seeds.jsonl\n"
      "  mpirun -n 2 tilewise bench scan --n 16777216 --device cpu:serial");
  command->callback([&call, asked] { call.run = [&call, asked] { return bench(*asked, call.argv); }; });
}

}  // namespace tilewise::cli
