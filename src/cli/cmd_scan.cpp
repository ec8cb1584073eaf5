// tilewise scan
#include "cli/commands.hpp"

namespace tilewise::cli {

void add_scan(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("scan", "");
  command->callback([&call] { call.run = [] { return exit_code::ok; }; });
}

}  // namespace tilewise::cli
