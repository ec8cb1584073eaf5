// tilewise list
#include "cli/commands.hpp"

namespace tilewise::cli {

void add_list(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("list", "");
  command->callback([&call] { call.run = [] { return exit_code::ok; }; });
}

}  // namespace tilewise::cli
