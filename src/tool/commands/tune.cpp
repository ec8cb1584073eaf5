// SPDX-License-Identifier: Apache-2.0
// tilewise tune: measures once what is fastest on this machine, and keeps it: a variant's tuning, or the device for a
// job.
#include "backend/cpu/device.hpp"
#include "lab/jobs/figures.hpp"
#include "lab/time/clock.hpp"
#include "report/format.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/commands.hpp"
#include "tool/drivers/device_use.hpp"
#include "tool/output.hpp"
#include "tool/ranks/voice.hpp"
#include "tool/tune/figures_record.hpp"
#include "tool/tune/variants.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace tilewise::cli {

namespace {

using lab::device_figures;
using lab::machine_figures;
using nlohmann::ordered_json;

/// The figures of the device that `auto` chooses if nothing is measured, including the time to open it.
std::optional<device_figures> measure_other(common_options options,
                                            const std::function<void(const std::string&)>& tell) {
  unsetenv("TILEWISE_DEVICE");  // else a device that it names would be chosen
  options.device = "auto";
  const std::int64_t started = lab::now_ns();
  const device_handle device = open_device(options);
  if (device->info().backend == "cpu") return std::nullopt;
  device->queue().finish();
  const auto start_ns = static_cast<double>(lab::now_ns() - started);
  device_figures figures = lab::measure_device(*device, tell);
  figures.start_ns = start_ns;
  return figures;
}

ordered_json to_json(const device_figures& f) {
  ordered_json told{{"name", f.name}, {"identity", f.identity}};
  if (f.upload_bytes_per_s > 0) {
    told["start_ns"] = f.start_ns;
    told["latency_ns"] = f.latency_ns;
    told["upload_bytes_per_s"] = f.upload_bytes_per_s;
    told["download_bytes_per_s"] = f.download_bytes_per_s;
    told["pieces_from_bytes"] = f.pieces_from_bytes;
  }
  told["computing"] = ordered_json::object();
  for (const auto& [name, g] : f.computing)
    told["computing"][name] = {{"operations", g.operations}, {"ns", g.ns}, {"power", g.power}};
  return told;
}

void print_figures(const machine_figures& all, bool is_kept) {
  print_json({{"command", "tune"},
              {"read_bytes_per_s", all.read_bytes_per_s},
              {"cpu", to_json(all.cpu)},
              {"device", all.device ? to_json(*all.device) : ordered_json()},
              {"kept", is_kept}});
}

std::string line_of(const std::string& what, const std::string& here, const std::string& there) {
  return left(what, 16) + right(here, 12) + (there.empty() ? "" : right(there, 12)) + "\n";
}

void print_table(const machine_figures& all) {
  const device_figures* const device = all.device ? &*all.device : nullptr;
  const auto there = [&](const auto& text) { return device == nullptr ? std::string() : text(*device); };
  print(all.cpu.name + ": " + all.cpu.identity + "\n" +
        there([](const device_figures& d) { return d.name + ": " + d.identity + "\n"; }) + "\n");
  print(line_of("", all.cpu.name, there([](const device_figures& d) { return d.name; })));
  print(line_of("read a file", report::rate(all.read_bytes_per_s), ""));
  if (device != nullptr) {
    print(line_of("start", "", report::duration(device->start_ns)));
    print(line_of("latency", "", report::duration(device->latency_ns)));
    print(line_of("upload", "", report::rate(device->upload_bytes_per_s)));
    print(line_of("download", "", report::rate(device->download_bytes_per_s)));
  }
  for (const auto& [name, g] : all.cpu.computing)
    print(line_of(name, report::duration(g.ns), there([&name = name](const device_figures& d) {
                    const auto found = d.computing.find(name);
                    return found == d.computing.end() ? std::string("-") : report::duration(found->second.ns);
                  })));
  if (device == nullptr)
    print("\nauto finds no other device here, so it takes the CPU and needs no prediction.\n");
  else
    print("\nauto takes whichever of the two is predicted to be done first; -v shows both times.\n");
}

exit_code tune_transfers(const common_options& common) {
  const auto tell = [&](const std::string& what) {
    if (!common.quiet) progress("measuring " + what);
  };
  const device_handle cpu = backend::cpu::make_device("cpu", {.threads = common.threads, .instruction_set = {}});
  machine_figures all;
  all.device = measure_other(common, tell);
  all.cpu = lab::measure_device(*cpu, tell);
  tell("a file that is read");
  all.read_bytes_per_s = lab::measure_reading(lab::memory_folder());
  const bool is_kept = keep_figures(all, cpu->info());
  common.json ? print_figures(all, is_kept) : print_table(all);
  if (!is_kept && !common.quiet)
    note(
        "tilewise: the figures are not kept, so auto will not know them: there is no private cache folder; "
        "TILEWISE_CACHE can name one");
  return exit_code::ok;
}

struct tune_options {
  tuning_request variants;
  bool transfers = false, forget = false;
};

exit_code tune(const tune_options& asked, const std::vector<std::string>& argv) {
  require_one_process("tune");
  if (asked.forget) return forget_tunings(asked.variants.selectors, asked.variants.json);
  if (!asked.transfers && asked.variants.selectors.empty())
    throw error(errc::invalid_argument,
                "name an algorithm or a variant to tune, such as scan; or ask for --transfers, or --forget");
  if (!asked.transfers) return tune_variants(asked.variants, argv);
  common_options common;
  common.threads = asked.variants.devices.threads;
  common.time_limit_s = asked.variants.devices.time_limit_s;
  common.json = asked.variants.json;
  common.quiet = asked.variants.devices.quiet;
  return tune_transfers(common);
}

/// Adds the options that only a race has.
std::vector<CLI::Option*> add_race(CLI::App& command, tuning_request& to) {
  const std::size_t before = command.get_options().size();
  add_problem_options(command, to.problems);
  add_file_option(command, "-o", to.records, "append one JSON record per tuning", "FILE.jsonl");
  add_max_time(command, to.max_time_s, "about this many seconds a race; default 10");
  command.add_flag("--apply", to.apply, "calls that ask for no tuning get what is found")->option_text(" ");
  command.add_flag("--dry-run", to.dry_run, "print what would be measured")->option_text(" ");
  const std::vector<CLI::Option*> options = command.get_options();
  return {options.begin() + static_cast<std::ptrdiff_t>(before), options.end()};
}

}  // namespace

void add_tune(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("tune", "fastest tunings, or the figures of --device auto");
  auto asked = std::make_shared<tune_options>();
  tuning_request& race = asked->variants;
  CLI::Option* selectors =
      command->add_option("ALGORITHM", race.selectors, "scan, as each device computes it, or scan/cpu")
          ->option_text("...");
  add_device_list_options(*command, race.devices);
  CLI::Option* device = command->get_option("--device");
  std::vector<CLI::Option*> of_race = add_race(*command, race);
  of_race.push_back(device);
  CLI::Option* transfers =
      command->add_flag("--transfers", asked->transfers, "what transfers and kernels take")->option_text(" ");
  CLI::Option* forget =
      command->add_flag("--forget", asked->forget, "forget what was found, and what is applied")->option_text(" ");
  CLI::Option* json =
      command->add_flag("--json", race.json, "one JSON object on one line, also for errors")->option_text(" ");
  json->excludes(command->get_option("--dry-run"));
  of_race.push_back(
      command->add_flag("-v,--verbose", race.verbose, "every tuning, also those left behind")->option_text(" "));
  command->add_flag("-q,--quiet", race.devices.quiet, "no progress lines; notes only of rows without a time")
      ->option_text(" ");
  transfers->excludes(selectors)->excludes(forget);
  for (CLI::Option* option : of_race) option->excludes(transfers)->excludes(forget);
  for (const char* name : {"--threads", "--time-limit"}) forget->excludes(command->get_option(name));
  command->footer(
      "A variant's tunings are numbers such as tile=32768, which change its speed and\n"
      "never a bit; `tilewise list` shows them. All of them are measured alternately;\n"
      "who is surely slower leaves, and of the others the slower half, until one is\n"
      "left. It and the default meet in a final, of new samples. Only if it is faster\n"
      "there by more than the noise, with 95 % confidence, is it called so. Each result\n"
      "is compared with the definition's before and after; a tuning with other bits is\n"
      "out, and the exit code is 3. By default the device that `auto` takes is tuned,\n"
      "for the sizes of a first look, with f32.\n"
      "What is found is kept in the cache folder until hardware, driver, the number of\n"
      "threads or this version change, and told again instead of measured. It changes\n"
      "no call until --apply. Then calls that ask for no tuning, of the tool, of C++\n"
      "and of Python, get it for problems of the same type and settings and of about\n"
      "these sizes: each from half to twice the nearest power of 4. --tuning, and any\n"
      "other wish, comes first.\n"
      "--transfers takes less than a minute. Commands on files with --device auto then\n"
      "predict the time until the result is there: on the CPU, to read and compute; on\n"
      "the GPU, to start it, to read, and to upload, compute and download, at once\n"
      "where the call goes in pieces. The shorter time decides. Without figures reduce\n"
      "and scan of files take the CPU, and all else the GPU. An algorithm is measured\n"
      "at two sizes of f32 and f64; others are predicted from these.\n"
      "\n"
      "Examples:\n"
      "  tilewise tune scan matmul\n"
      "  tilewise tune sort --n 16777216 --device opencl:0 --apply\n"
      "  tilewise tune matmul/cpu:packed --shape 2048x2048x2048 --dtype f64\n"
      "  tilewise tune --forget\n"
      "  tilewise tune --transfers\n"
      "  tilewise sort x.npy -o y.npy -v           predicted: cpu 120 ms, cuda:0 1.30 s");
  command->callback([&call, asked] { call.run = [&call, asked] { return tune(*asked, call.argv); }; });
}

}  // namespace tilewise::cli
