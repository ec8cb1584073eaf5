// tilewise devices
#include "cli/commands.hpp"

namespace tilewise::cli {

void add_devices(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("devices", "");
  command->callback([&call] { call.run = [] { return exit_code::ok; }; });
}

}  // namespace tilewise::cli
