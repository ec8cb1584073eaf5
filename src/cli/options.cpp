// The options that several subcommands share.
#include "cli/commands.hpp"

namespace tilewise::cli {

/// More than any machine has; it keeps a slip of the finger from starting a million threads.
constexpr unsigned most_threads = 4096;

void add_device_options(CLI::App& command, common_options& to) {
  command.add_option("--device", to.device, "auto, cpu, cpu:openmp, opencl:0, opencl:NVIDIA, ...")->option_text("NAME");
  command.add_option("--threads", to.threads, "worker threads of a CPU device; 0: one a CPU")
      ->option_text("N")
      ->check(CLI::Range(0u, most_threads));
}

void add_variant_options(CLI::App& command, common_options& to) {
  command.add_option("--variant", to.variant, "force one; `tilewise list` names them")->option_text("NAME");
  command.add_option("--tuning", to.tuning, "such as \"group_size=64\"; never changes a bit")->option_text("TEXT");
  command.add_flag("--fast", to.fast, "also variants that keep an order of their own");
}

void add_output_options(CLI::App& command, common_options& to) {
  command.add_flag("--json", to.json, "one JSON object on standard output");
  CLI::Option* quiet = command.add_flag("-q,--quiet", to.quiet, "no notes, errors only")->option_text(" ");
  command.add_flag("-v,--verbose", to.verbose, "say what was chosen and why")->option_text(" ")->excludes(quiet);
}

}  // namespace tilewise::cli
