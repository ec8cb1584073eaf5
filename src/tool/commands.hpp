// SPDX-License-Identifier: Apache-2.0
// One function per subcommand, each in its own file commands/<name>.cpp; tool.cpp calls them all.
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

namespace tilewise::cli {

/// What a parsed command line asks for. A subcommand's callback sets `run`; tool.cpp calls it once parsing is over and
/// turns a tilewise::error into its exit code.
struct invocation {
  std::vector<std::string> argv;
  std::function<exit_code()> run;
};

/// The whole tool; `main` returns what it returns.
int run_tool(int argc, char** argv);

/// The longest that one call of a driver or a peer may take; 0 is unlimited.
inline constexpr unsigned default_time_limit_s = 60;

/// Options that several subcommands share; each adds those that apply to it.
struct common_options {
  std::string device = "auto";
  std::string variant;
  std::string tuning;
  unsigned threads = 0;             // 0: one per logical CPU
  std::uint64_t device_memory = 0;  // bytes that a device may use; 0: all that it has
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

/// What poses problems to algorithms, of `bench` and `tune`.
struct problem_options {
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> shapes, settings, types, operations;
};
void add_problem_options(CLI::App& command, problem_options& to);  // --n --shape --set --dtype --op

/// Throws `invalid_argument` for what is no size, type or setting.
void pose(const problem_options& asked, lab::request& to);

/// The value is a whole number in this range.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
/// From there to lab::most_elements, also as 1e6, or with the suffixes K, M and G of --device-memory: a transform.
CLI::Validator number_of_elements(std::uint64_t least);

/// What --shape takes, "3x4": whole numbers with x between them; none for any other text. Throws if one begins with a
/// 0.
std::optional<std::vector<std::uint64_t>> parse_sizes(const std::string& text);

/// The value names a file or folder; "-" is refused, since only arrays go through standard input and output.
CLI::Validator file_name();
/// An option with what help shows for its value.
CLI::Option* add_file_option(CLI::App& command, const std::string& name, std::string& to, const std::string& says,
                             const std::string& value);
/// The same for arrays, which "-" reads from standard input or writes to standard output.
CLI::Option* add_array_option(CLI::App& command, const std::string& name, std::string& to, const std::string& says,
                              const std::string& value);
/// The value is no "-" under mpirun, which gives standard input to the first rank alone.
CLI::Validator readable_by_ranks();
/// A required positional argument.
CLI::Option* add_input_array(CLI::App& command, const std::string& name, std::string& to, const std::string& says);

/// --max-time, in seconds above 0.
CLI::Option* add_max_time(CLI::App& command, double& to, const std::string& says = "at most this many seconds per row");

/// What help shows: neither hidden commands nor hidden options.
std::vector<const CLI::App*> shown_commands(const CLI::App& tool);
std::vector<const CLI::Option*> shown_options(const CLI::App& command);

/// One value each time, or several separated by commas: a positional argument may follow.
CLI::Option* several(CLI::Option* option);

void add_bench(CLI::App& app, invocation& call);
void add_compare(CLI::App& app, invocation& call);
void add_complete(CLI::App& app, invocation& call);
void add_convolve(CLI::App& app, invocation& call);
void add_devices(CLI::App& app, invocation& call);
void add_diffuse(CLI::App& app, invocation& call);
void add_doctor(CLI::App& app, invocation& call);
void add_list(CLI::App& app, invocation& call);
void add_manual(CLI::App& app, invocation& call);
void add_matmul(CLI::App& app, invocation& call);
void add_matvec(CLI::App& app, invocation& call);
void add_polymul(CLI::App& app, invocation& call);
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
