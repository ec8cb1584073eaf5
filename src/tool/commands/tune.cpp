// SPDX-License-Identifier: Apache-2.0
// tilewise tune: what is fastest on this machine, measured once and kept: a variant's tuning, or the place of a job.
#include "tool/ranks/voice.hpp"
#include "tool/tune/transfers.hpp"
#include "tool/tune/variants.hpp"

namespace tilewise::cli {

namespace {

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

/// Those that only a race has.
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
