// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands share.
#include "backend/memory_limit.hpp"
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "io/npy_header.hpp"
#include "lab/plan/problems.hpp"
#include "lab/plan/request.hpp"
#include "tool/commands.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace tilewise::cli {

/// More than any machine has; prevents a typing error from starting a million threads.
constexpr unsigned most_threads = 4096;

/// CLI11 reads digits after a leading 0 as octal, which nobody means.
static std::string octal_fault(const std::string& text) {
  const bool is_octal = text.size() > 1 && text[0] == '0' && std::isdigit(static_cast<unsigned char>(text[1])) != 0;
  return is_octal ? "'" + text + "' begins with a 0; write it without" : "";
}

/// Accepts the same text as TILEWISE_DEVICE_MEMORY.
static std::string to_bytes(std::string& text) {
  if (const std::string fault = octal_fault(text); !fault.empty()) return fault;
  const auto bytes = backend::bytes_from(text);
  if (!bytes) return "'" + text + "' is not a number of bytes, such as 512M";
  text = std::to_string(*bytes);
  return "";
}

static void add_threads(CLI::App& command, unsigned& to) {
  command.add_option("--threads", to, "worker threads of a CPU device; 0: one per CPU")
      ->option_text("N")
      ->check(whole_number(0, most_threads));
}

static void add_time_limit(CLI::App& command, unsigned& to) {
  constexpr unsigned a_year = 365 * 24 * 60 * 60;
  command.add_option("--time-limit", to, "longest driver or peer call; default 60, 0: no limit")
      ->option_text("SECONDS")
      ->check(whole_number(0, a_year));
}

/// Refuses an empty name, as from a variable that is not set: nobody means the default by it.
static CLI::Validator named_device() {
  return CLI::Validator(
      [](const std::string& text) {
        return text.empty() ? "is empty; name auto, cpu, cuda:0, opencl:0 or another that `tilewise devices` lists"
                            : "";
      },
      "");
}

void add_device_options(CLI::App& command, common_options& to) {
  command.add_option("--device", to.device, "auto, cpu, cpu:openmp, opencl:NVIDIA, cuda:*, ...")
      ->option_text("NAME")
      ->check(named_device());
  add_threads(command, to.threads);
  command.add_option("--device-memory", to.device_memory, "most that a device other than cpu may use: 512M")
      ->option_text("SIZE")
      ->transform(CLI::Validator(to_bytes, ""));
  add_time_limit(command, to.time_limit_s);
}

void add_team_options(CLI::App& command, common_options& to) {
  add_threads(command, to.threads);
  add_time_limit(command, to.time_limit_s);
}

void add_device_list_options(CLI::App& command, device_list_options& to) {
  several(command.add_option("--device", to.names, "all, cpu, cpu:openmp, opencl:0, ...; may be repeated"))
      ->option_text("NAME,...")
      ->check(named_device());
  add_threads(command, to.threads);
  add_time_limit(command, to.time_limit_s);
}

CLI::Option* add_max_time(CLI::App& command, double& to, const std::string& says) {
  return command.add_option("--max-time", to, says)->option_text("S")->check([](const std::string& text) {
    return std::strtod(text.c_str(), nullptr) > 0 ? "" : "'" + text + "' is not a number of seconds above 0";
  });
}

std::vector<const CLI::App*> shown_commands(const CLI::App& tool) {
  return tool.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); });
}

std::vector<const CLI::Option*> shown_options(const CLI::App& command) {
  return command.get_options([](const CLI::Option* o) { return !o->get_group().empty(); });
}

CLI::Option* several(CLI::Option* option) { return option->allow_extra_args(false)->delimiter(','); }

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        std::uint64_t value = 0;
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool is_one = failure == std::errc() && end == text.data() + text.size();
        if (is_one && value >= least && value <= most) return octal_fault(text);
        return "'" + text + "' is not a whole number from " + std::to_string(least) + " to " + std::to_string(most);
      },
      "");
}

/// Replaces "1e6" or "64K" by its digits if it is a whole number; leaves any other text as it is.
static void write_out(std::string& text) {
  constexpr double exact = 0x1p53;
  if (text.find_first_of("eE") != text.npos && text.find_first_not_of("0123456789.eE+") == text.npos) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (*end == '\0' && value <= exact && value == std::floor(value))
      text = std::to_string(static_cast<std::uint64_t>(value));
  } else if (octal_fault(text).empty()) {
    if (const auto count = backend::bytes_from(text)) text = std::to_string(*count);
  }
}

CLI::Validator number_of_elements(std::uint64_t least) {
  const CLI::Validator check = whole_number(least, lab::most_elements);
  return CLI::Validator(
      [check](std::string& text) {
        const std::string given = text;
        write_out(text);
        const std::string fault = check(text);
        return fault.empty() ? "" : "'" + given + "'" + fault.substr(text.size() + 2);
      },
      "");
}

std::optional<std::vector<std::uint64_t>> parse_sizes(const std::string& text) {
  std::vector<std::uint64_t> sizes;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();; ++at) {
    const auto [after, failure] = std::from_chars(at, end, sizes.emplace_back());
    if (failure != std::errc() || (after != end && *after != 'x')) return std::nullopt;
    if (const std::string fault = octal_fault({at, after}); !fault.empty())
      throw error(errc::invalid_argument, "--shape: " + fault);
    if (after == end) return sizes;
    at = after;
  }
}

CLI::Validator file_name() {
  return CLI::Validator(
      [](const std::string& text) {
        return text == "-"
                   ? "'-' as standard input or output is for arrays only; name a file, or ./- for one of that name"
                   : "";
      },
      "");
}

/// CLI11 takes any next word as the value: the next option if a file was forgotten, and "=y" of "-o=y".
static CLI::Validator no_option_of(const CLI::App& command) {
  return CLI::Validator(
      [&command](const std::string& text) -> std::string {
        const std::string name = text.substr(0, text.find('='));
        const auto all = command.get_options();
        const bool is_option =
            name == "--" || (name.starts_with('-') &&
                             std::any_of(all.begin(), all.end(), [&](auto* o) { return o->check_name(name); }));
        if (is_option) return "its value is missing before '" + text + "'; ./" + text + " is a file of that name";
        return text.starts_with('=') ? "'" + text + "' follows it; write a space for the =, or ./" + text : "";
      },
      "");
}

CLI::Option* add_array_option(CLI::App& command, const std::string& name, std::string& to, const std::string& says,
                              const std::string& value) {
  CLI::Option* option = command.add_option(name, to, says)->option_text(value);
  return name.starts_with('-') ? option->check(no_option_of(command)) : option;
}

CLI::Option* add_file_option(CLI::App& command, const std::string& name, std::string& to, const std::string& says,
                             const std::string& value) {
  return add_array_option(command, name, to, says, value)->check(file_name());
}

void add_variant_options(CLI::App& command, common_options& to) {
  command.add_option("--variant", to.variant, "force one; `tilewise list` names them")->option_text("NAME");
  command.add_option("--tuning", to.tuning, "such as \"group_size=64\"; never changes a bit")->option_text("TEXT");
  command.add_flag("--fast", to.fast, "also variants with another order, so other bits");
}

void add_output_options(CLI::App& command, common_options& to) {
  command.add_flag("--json", to.json, "one JSON object on one line, also for errors");
  CLI::Option* quiet = command.add_flag("-q,--quiet", to.quiet, "no notes, errors only")->option_text(" ");
  command.add_flag("-v,--verbose", to.verbose, "say what was chosen and why")->option_text(" ")->excludes(quiet);
}

namespace {

/// Parses "4096x4096x512". The algorithm defines what each size means.
registry::extents parse_shape(const std::string& text) {
  registry::extents shape;
  const std::optional<std::vector<std::uint64_t>> sizes = parse_sizes(text);
  const auto is_too_large = [](std::uint64_t size) { return size > lab::most_elements; };
  if (!sizes || sizes->size() > shape.size.size() || std::any_of(sizes->begin(), sizes->end(), is_too_large))
    throw error(errc::invalid_argument,
                "--shape '" + base::printable(text) +
                    "' is not one to six whole numbers with x between them, such as 4096x4096x512");
  for (const std::uint64_t size : *sizes) shape.size[shape.rank++] = size;
  return shape;
}

/// Accepts the names of records: array files call it f4, but here it is f32.
dtype type_from(const std::string& text) {
  if (const bool is_code = text.size() < 4; !is_code)  // int64, unlike i8, means the same everywhere
    if (const std::optional<dtype> type = io::type_called(text)) return *type;
  std::vector<base::proposal> all;
  for (const dtype type : all_dtypes) {
    const std::string name(name_of(type));
    if (text == name) return type;
    all.push_back({name, name});
    all.push_back({name.front() + std::to_string(size_of(type)), name});
  }
  throw error(errc::invalid_argument,
              "there is no type '" + base::printable(text) + "';" + base::propose(text, std::move(all)));
}

/// Parses "order=descending".
std::pair<std::string, std::string> parse_setting(const std::string& text) {
  const std::size_t middle = text.find('=');
  if (middle == text.npos)
    throw error(errc::invalid_argument,
                "--set '" + base::printable(text) + "' is not NAME=WORD, such as order=descending");
  return {text.substr(0, middle), text.substr(middle + 1)};
}

}  // namespace

void add_problem_options(CLI::App& command, problem_options& to) {
  several(command.add_option("--n", to.sizes, "elements: 1e6, 64K = 65536; for matrices the side")
              ->option_text("N,...")
              ->transform(number_of_elements(1)));
  several(command.add_option("--shape", to.shapes, "such as 4096x512; for matmul MxNxK")->option_text("AxB,..."));
  several(command.add_option("--set", to.settings, "a setting such as order=descending")->option_text("NAME=WORD,..."));
  several(command.add_option("--dtype", to.types, "f32 f64 i32 i64 u32 u64, instead of the preset's")
              ->option_text("T,..."));
  several(command.add_option("--op", to.operations, "sum, product, min, max, instead of the preset's")
              ->option_text("OP,..."));
}

void pose(const problem_options& asked, lab::request& to) {
  to.sizes = asked.sizes;
  for (const std::string& t : asked.types) to.types.push_back(type_from(t));
  for (const std::string& text : asked.shapes) to.shapes.push_back(parse_shape(text));
  for (const std::string& o : asked.operations) to.settings.emplace_back("op", o);
  for (const std::string& text : asked.settings) to.settings.push_back(parse_setting(text));
}

}  // namespace tilewise::cli
