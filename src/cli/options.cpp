// The options that several subcommands share.
#include "cli/commands.hpp"

namespace tilewise::cli {

void add_device_options(CLI::App& command, common_options& to) {
  command.add_option("--device", to.device, "auto, cpu, cpu:openmp, opencl:0, cuda:0 or a part of a name")
      ->option_text("NAME");
  command.add_option("--threads", to.threads, "worker threads of a CPU device; 0: one a CPU")->option_text("N");
}

void add_variant_options(CLI::App& command, common_options& to) {
  command.add_option("--variant", to.variant, "force one; `tilewise list` names them")->option_text("NAME");
  command.add_option("--tuning", to.tuning, "such as \"group_size=64\"; never changes a bit")->option_text("TEXT");
  command.add_flag("--fast", to.fast, "also variants that keep an order of their own");
}

void add_output_options(CLI::App& command, common_options& to) {
  command.add_flag("--json", to.json, "one JSON object on standard output");
  CLI::Option* quiet = command.add_flag("-q,--quiet", to.quiet, "no notes, errors only");
  command.add_flag("-v,--verbose", to.verbose, "say what was chosen and why")->excludes(quiet);
}

}  // namespace tilewise::cli
