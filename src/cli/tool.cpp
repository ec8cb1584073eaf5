// The tool: parse, run one subcommand, turn errors into exit codes.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "io/replacement_file.hpp"

#include <tilewise/version.hpp>

#include <csignal>
#include <iostream>
#include <new>
#include <sstream>

#include <unistd.h>

namespace tilewise::cli {

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  tilewise devices                          what this machine can compute on\n"
    "  tilewise scan x.npy -o y.npy              running sums, same bits everywhere\n"
    "  tilewise reduce x.npy --op max --json     one value, with its digest\n"
    "  tilewise verify                           one digest for all that is here\n"
    "\n"
    "Exit codes: 0 good, 1 internal error, 2 usage, 3 wrong result, 4 not available,\n"
    "5 memory or limit, 6 file, 7 regression, 8 time-out or lost device, 130 Ctrl-C.";

exit_code run(const invocation& call) {
  try {
    return call.run();
  } catch (const error& e) {
    note(std::string("tilewise: ") + e.what());
    return exit_code_of(e.code());
  } catch (const std::bad_alloc&) {
    note("tilewise: the host has not enough memory for this; use a smaller input or a machine with more");
    return exit_code::out_of_memory;
  } catch (const std::exception& e) {
    note(std::string("tilewise: internal error: ") + e.what());
    return exit_code::internal;
  }
}

/// CLI11 prints through streams; its text goes where ours goes, and its errors all mean wrong usage.
exit_code explain(const CLI::App& app, const CLI::ParseError& e) {
  std::ostringstream out, err;
  const int code = app.exit(e, out, err);
  print(out.str());
  std::cerr << err.str();
  return code == 0 ? exit_code::ok : exit_code::usage;
}

exit_code parse_and_run(int argc, char** argv) {
  invocation call{.argv = {argv, argv + argc}, .run = {}};
  CLI::App app("Data-parallel algorithms with the same bits on every processor.", "tilewise");
  app.set_version_flag("--version", std::string("tilewise ") + version());
  app.require_subcommand(0, 1);
  app.footer(examples);
  add_bench(app, call);
  add_devices(app, call);
  add_list(app, call);
  add_probe(app, call);
  add_reduce(app, call);
  add_report(app, call);
  add_scan(app, call);
  add_verify(app, call);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return explain(app, e);
  }
  if (call.run) return run(call);
  print(app.help());
  return exit_code::ok;
}

/// Nothing half-written stays behind.
extern "C" void end_by_signal(int signal) {
  io::remove_unfinished_file();
  _exit(128 + signal);
}

}  // namespace

int run_tool(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is seen as a failed write, not as a death
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) std::signal(ending, end_by_signal);
  return static_cast<int>(finish_output(parse_and_run(argc, argv)));
}

}  // namespace tilewise::cli
