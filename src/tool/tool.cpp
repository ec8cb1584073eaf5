// SPDX-License-Identifier: Apache-2.0
// The tool's main function: parses the command line, runs one subcommand, and turns errors into exit codes.
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "io/array_output.hpp"
#include "lab/machine/environment.hpp"
#include "registry/catalog.hpp"
#include "registry/meanings.hpp"
#include "tool/commands.hpp"
#include "tool/interrupt.hpp"
#include "tool/output.hpp"
#include "tool/ranks/voice.hpp"

#include <tilewise/version.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>
#include <sstream>

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewise::cli {

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  tilewise devices                          what this machine can compute on\n"
    "  tilewise scan x.npy -o y.npy              running sums, same bits everywhere\n"
    "  tilewise reduce x.npy --op max --json     one value, with its digest\n"
    "  tilewise verify                           one digest for every device here\n"
    "  tilewise help scan                        a command's options\n"
    "\n"
    "Exit codes: 0 good, 1 internal error, 2 usage, 3 wrong result, 4 not available,\n"
    "5 memory or limit, 6 file, 7 regression, 8 time-out or lost device, 130 Ctrl-C.";

exit_code fail_without_memory() {
  return fail(name_of(errc::out_of_memory), exit_code::out_of_memory,
              "the host does not have enough memory for this; use a smaller input or a machine with more");
}

const std::terminate_handler handler_before = std::get_terminate();

/// Ends the process if an allocation fails in another library's function that must not throw. Any other exception that
/// nobody catches is reported as usual.
[[noreturn]] void end_without_memory() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_at_once(fail_without_memory());
  } catch (...) {
  }
  if (handler_before != nullptr) handler_before();
  std::abort();
}

bool is_ended_by_readers = true;  // unless the caller ignores SIGPIPE

/// Returns what `work` returns. If it throws, reports that and returns its exit code.
template <class Work>
exit_code with_failures_told(const Work& work) {
  try {
    return work();
  } catch (const error& e) {
    if (is_ended_by_readers && dynamic_cast<const io::reader_gone*>(&e) != nullptr) end_without_reader();
    return fail(name_of(e.code()), exit_code_of(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    return fail_without_memory();
  } catch (const std::exception& e) {
    return fail("internal", exit_code::internal, std::string("internal error: ") + e.what());
  }
}

std::string describe_build() {
  const record::tool build = lab::tool_facts();
  std::string text = std::string("tilewise ") + version() + "\norder " + std::to_string(order_version) + "\nbuild:";
  for (const std::string& fact : {build.commit.value_or(""), build.compiler, build.build_type})
    if (!fact.empty()) text += " " + fact;
  text += "\nbackends:";
  for (const backend::runtime& r : backend::runtimes()) text += " " + std::string(r.name);
  return text;
}

/// The arguments; `help` and `help COMMAND` are replaced by the option.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

/// Says that a word should have been a command; empty if the first argument is a command or an option.
std::string unknown_command(const CLI::App& app, std::span<const std::string> words) {
  if (words.empty() || words[0].starts_with('-')) return "";
  std::vector<std::string> names;
  for (const CLI::App* command : shown_commands(app)) {
    if (command->get_name() == words[0]) return "";
    names.push_back(command->get_name());
  }
  return "there is no command '" + base::printable(words[0]) + "';" +
         registry::suggestion(registry::missing::command, words[0], names);
}

/// Says that a word should have been an option of the command; empty if there is none. This is checked before missing
/// options, since the word may have been meant as one of those. A word that looks like an option may also be a value,
/// or a file after "--".
std::string unknown_option(const CLI::App& app, std::span<const std::string> words) {
  std::vector<std::string> names, not_taken;
  std::string of;
  for (const CLI::App* command : app.get_subcommands()) {
    of = command->get_name();
    not_taken = command->remaining();
    for (const CLI::Option* option : shown_options(*command))
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const auto is_taken = [&](const std::string& word) {  // CLI11 takes the -q of -q.npy and leaves -.npy
    return std::none_of(not_taken.begin(), not_taken.end(), [&](const std::string& left) {
      return left.starts_with('-') && left != "-" && word.ends_with(left.substr(1));
    });
  };
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
    if (!word->starts_with('-') || is_taken(*word)) continue;
    const std::string name = word->substr(0, word->find('=')),
                      none = "there is no option '" + base::printable(name) + "';";
    const bool may_be_file = !word->starts_with("--") || access(word->c_str(), F_OK) == 0;
    std::string way = registry::option_suggestion(of, name);
    if (!way.empty() && !way.ends_with('?')) way += ";";
    if (may_be_file) return none + way + " a file of that name is ./" + base::printable(*word) + ";";
    if (!way.empty()) return none + way;
    const auto begins = [&](const std::string& known) { return known.starts_with(name); };
    const auto meant = std::find_if(names.begin(), names.end(), begins);  // unique: --mod for --modulus
    const bool is_start = name.size() > 4 && std::count_if(names.begin(), names.end(), begins) == 1;
    return none + (is_start ? " did you mean " + *meant + "?" : base::nearest(name, names));
  }
  return "";
}

/// Says that a file after the inputs may be the missing output; empty if there is none.
std::string output_without_option(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    const CLI::Option* output = command->get_option_no_throw("--output");
    const std::vector<std::string> left = command->remaining();
    if (output != nullptr && output->get_required() && output->count() == 0 && !left.empty())
      return "'" + base::printable(left.front()) + "' is one file too many; did you mean -o " +
             base::printable(left.front()) + "?";
  }
  return "";
}

/// Prints help to standard output. CLI11's errors all mean a usage error.
exit_code explain(const CLI::App& app, const CLI::ParseError& e, std::span<const std::string> words) {
  const auto refuse = [](const std::string& what) {
    const exit_code usage = fail(name_of(errc::invalid_argument), exit_code::usage, what);
    end_all_ranks(usage);  // otherwise ranks that start later would report that this one is gone
    return usage;
  };
  if (const std::string unknown = unknown_command(app, words); !unknown.empty()) return refuse(unknown);
  if (e.get_exit_code() != 0) {
    const std::string command = words.empty() || words[0].starts_with('-') ? "" : " " + words[0];
    const std::string help = "`tilewise" + command + " --help`";
    if (const std::string unknown = unknown_option(app, words); !unknown.empty())
      return refuse(unknown + " " + help + " lists all");
    if (const std::string output = output_without_option(app); !output.empty()) return refuse(output + " See " + help);
    const bool lacks_value = e.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch);
    std::string what = e.what();  // "--output: 1 required TEXT missing" where a value is
    if (lacks_value && what.find("required TEXT missing") != what.npos)
      what = what.substr(0, what.find(':')) + " needs a value";
    return refuse(base::printable(what) + "; see " + help);
  }
  std::ostringstream out;
  app.exit(e, out, out);
  print(out.str());
  return exit_code::ok;
}

constexpr std::pair<std::string_view, void (*)(CLI::App&, invocation&)> written_commands[]{
    {"bench", add_bench},     {"compare", add_compare}, {"complete", add_complete}, {"devices", add_devices},
    {"diffuse", add_diffuse}, {"doctor", add_doctor},   {"list", add_list},         {"manual", add_manual},
    {"probe", add_probe},     {"reduce", add_reduce},   {"report", add_report},     {"roofline", add_roofline},
    {"scale", add_scale},     {"scan", add_scan},       {"sort", add_sort},         {"tune", add_tune},
    {"verify", add_verify}};

/// In the order of their names, as help lists them.
void add_commands(CLI::App& app, invocation& call) {
  std::map<std::string_view, std::function<void()>> all;
  for (const auto& [name, add] : written_commands) all[name] = [&, add = add] { add(app, call); };
  for (const registry::algorithm* a : registry::algorithms())
    if (a->called != nullptr) all[a->name] = [&, a] { add_algorithm(app, call, *a); };
  for (const auto& [name, add] : all) add();
}

exit_code parse_and_run(int argc, char** argv) {
  invocation call{.argv = {argv, argv + argc}, .run = {}};
  CLI::App app("Data-parallel algorithms with the same bits on every processor.", "tilewise");
  app.get_formatter()->column_width(26);  // the longest option fits, and lines have at most 80 columns
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_version_flag("-V,--version", describe_build, "print what this build is and exit");
  app.require_subcommand(0, 1);
  app.footer(examples);
  add_commands(app, call);
  const std::vector<std::string> words = words_of(argc, argv);
  tell_failures_as_json(std::find(words.begin(), words.end(), "--json") != words.end());
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 expects them in reverse order
  } catch (const CLI::ParseError& e) {
    return explain(app, e, words);
  }
  if (call.run) {
    const exit_code ended = with_failures_told(call.run);
    if (ended != exit_code::ok) end_all_ranks(ended);
    return ended;
  }
  print(app.help());
  return exit_code::ok;
}

/// Opens closed standard streams. Otherwise the next opened file would become one of them and receive the output. They
/// are opened in the wrong direction, so that a result that cannot be printed is still an error.
void replace_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// The umask must not deny the tool access to the folders that it creates, for drivers, for temporary files, and at the
/// user's request.
void keep_owner_in_mask() { umask(umask(0) & ~static_cast<mode_t>(S_IRWXU)); }

/// If the process's address space is limited, it is needed for arrays: the allocator must not reserve 64 MiB for each
/// thread, and must not keep freed arrays.
void save_limited_addresses() {
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur == RLIM_INFINITY) return;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

}  // namespace

int run_tool(int argc, char** argv) {
  replace_closed_streams();
  save_limited_addresses();
  keep_owner_in_mask();
  // If a reader goes away, a write fails; the tool must not be killed by a signal.
  is_ended_by_readers = std::signal(SIGPIPE, SIG_IGN) != SIG_IGN;
  std::signal(SIGXFSZ, SIG_IGN);  // the same for a limit on file size
  std::signal(SIGCHLD, SIG_DFL);  // if a caller ignores it, no exit status of a child is known
  end_on_interrupts();
  std::set_terminate(end_without_memory);
  return static_cast<int>(finish_output(with_failures_told([&] { return parse_and_run(argc, argv); })));
}

}  // namespace tilewise::cli
