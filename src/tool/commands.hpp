// SPDX-License-Identifier: Apache-2.0
// One function per subcommand, each in its own file commands/<name>.cpp, and one for all that signatures describe;
// tool.cpp calls them.
#pragma once

#include "tool/exit_code.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tilewise::lab {
struct request;
}
namespace tilewise::registry {
struct algorithm;
}

namespace tilewise::cli {

/// What a parsed command line asks for. A subcommand's callback sets `run`. tool.cpp calls it after parsing and turns a
/// tilewise::error into an exit code.
struct invocation {
  std::vector<std::string> argv;
  std::function<exit_code()> run;
};

/// The whole tool; returns the exit code of `main`.
int run_tool(int argc, char** argv);

/// The longest that one call of a driver or a peer may take; 0 is unlimited.
inline constexpr unsigned default_time_limit_s = 60;

/// Options that several subcommands share. Each subcommand adds those that apply to it.
struct common_options {
  std::string device = "auto";
  std::string variant;
  std::string tuning;
  unsigned threads = 0;             // 0: one per logical CPU
  std::uint64_t device_memory = 0;  // the most that a device may use; 0: all that it has
  unsigned time_limit_s = default_time_limit_s;
  bool fast = false;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
};
void add_device_options(CLI::App& command, common_options& to);   // --device --threads --device-memory --time-limit
void add_variant_options(CLI::App& command, common_options& to);  // --variant --tuning --fast
void add_output_options(CLI::App& command, common_options& to);   // --json -q -v
void add_team_options(CLI::App& command, common_options& to);     // --threads --time-limit

/// For commands that take several devices.
struct device_list_options {
  std::vector<std::string> names{"all"};
  unsigned threads = 0;
  unsigned time_limit_s = default_time_limit_s;
  bool quiet = false;
};
void add_device_list_options(CLI::App& command, device_list_options& to);  // --device --threads --time-limit

/// Options that choose problems for algorithms, for `bench` and `tune`.
struct problem_options {
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> shapes, settings, types, operations;
};
void add_problem_options(CLI::App& command, problem_options& to);  // --n --shape --set --dtype --op

/// Adds the options to a request. Throws `invalid_argument` for an invalid size, type or setting.
void pose(const problem_options& asked, lab::request& to);

/// Checks that the value is a whole number in this range.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
/// Checks that the value lies between `least` and lab::most_elements. It also accepts 1e6, and the suffixes K, M and G
/// as --device-memory does, and replaces them by the number.
CLI::Validator number_of_elements(std::uint64_t least);

/// Parses a value of --shape such as "3x4". None unless it is whole numbers separated by x. Throws if a number begins
/// with a 0.
std::optional<std::vector<std::uint64_t>> parse_sizes(const std::string& text);

/// Checks that the value is a file or folder. Refuses "-", since only arrays go through standard input and output.
CLI::Validator file_name();
/// Adds an option for a file, with a name for its value in the help.
CLI::Option* add_file_option(CLI::App& command, const std::string& name, std::string& to, const std::string& says,
                             const std::string& value);
/// The same for an array, for which "-" means standard input or output.
CLI::Option* add_array_option(CLI::App& command, const std::string& name, std::string& to, const std::string& says,
                              const std::string& value);
/// Refuses "-" under mpirun, which gives standard input to the first rank alone.
CLI::Validator readable_by_ranks();
/// Adds a required positional argument.
CLI::Option* add_input_array(CLI::App& command, const std::string& name, std::string& to, const std::string& says);

/// Adds --max-time, in seconds above 0.
CLI::Option* add_max_time(CLI::App& command, double& to, const std::string& says = "at most this many seconds per row");

/// The commands and options that help shows; hidden ones are left out.
std::vector<const CLI::App*> shown_commands(const CLI::App& tool);
std::vector<const CLI::Option*> shown_options(const CLI::App& command);

/// Takes one value each time, or several separated by commas, so that a positional argument may follow.
CLI::Option* several(CLI::Option* option);

/// The command that an algorithm's signature describes.
void add_algorithm(CLI::App& app, invocation& call, const registry::algorithm& what);

void add_bench(CLI::App& app, invocation& call);
void add_compare(CLI::App& app, invocation& call);
void add_complete(CLI::App& app, invocation& call);
void add_devices(CLI::App& app, invocation& call);
void add_diffuse(CLI::App& app, invocation& call);
void add_doctor(CLI::App& app, invocation& call);
void add_list(CLI::App& app, invocation& call);
void add_manual(CLI::App& app, invocation& call);
void add_probe(CLI::App& app, invocation& call);
void add_reduce(CLI::App& app, invocation& call);
void add_report(CLI::App& app, invocation& call);
void add_roofline(CLI::App& app, invocation& call);
void add_scale(CLI::App& app, invocation& call);
void add_scan(CLI::App& app, invocation& call);
void add_sort(CLI::App& app, invocation& call);
void add_tune(CLI::App& app, invocation& call);
void add_verify(CLI::App& app, invocation& call);

}  // namespace tilewise::cli
