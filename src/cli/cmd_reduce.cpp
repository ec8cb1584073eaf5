// tilewise reduce
#include "cli/commands.hpp"

namespace tilewise::cli {

void add_reduce(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("reduce", "");
  command->callback([&call] { call.run = [] { return exit_code::ok; }; });
}

}  // namespace tilewise::cli
