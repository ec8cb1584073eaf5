// SPDX-License-Identifier: Apache-2.0
// Any lines are the words of a command. They give either options within their limits, whose shapes are the same after
// they are written and read again, or a message.
#include "backend/memory_limit.hpp"
#include "fuzz.hpp"
#include "lab/plan/problems.hpp"
#include "tool/commands.hpp"

using namespace tilewise;

namespace {

struct told {
  cli::problem_options problem;
  cli::common_options common;
  double max_time = 1;
};

/// Made once, since that takes far longer than parsing.
struct reading {
  told to;
  CLI::App command{"", "fuzz"};

  reading() {
    cli::add_problem_options(command, to.problem);
    cli::add_device_options(command, to.common);
    cli::add_variant_options(command, to.common);
    cli::add_max_time(command, to.max_time);
  }
};

/// Whether CLI11 accepts the words.
bool parse(std::vector<std::string> words, told& to) {
  static reading reader;
  reader.to = {};
  std::reverse(words.begin(), words.end());  // CLI11 expects them in reverse order
  try {
    reader.command.parse(std::move(words));
    to = reader.to;
    return true;
  } catch (const CLI::ParseError& e) {
    fuzz::require(e.get_exit_code() == 0 || !std::string_view(e.what()).empty(), "an error says why");
    return false;
  }
}

void require_within_limits(const told& t, const lab::request& r) {
  for (const std::uint64_t size : r.sizes) fuzz::require(size >= 1 && size <= lab::most_elements, "sizes have limits");
  for (const registry::extents& shape : r.shapes) {
    const std::string text = registry::to_string(shape);
    for (unsigned i = 0; i < shape.rank; ++i) fuzz::require(shape[i] <= lab::most_elements, "shapes have limits", text);
    told again;
    lab::request repeated{.documents = {}};
    fuzz::require(parse({"--shape", text}, again), "a shape is an option", text);
    cli::pose(again.problem, repeated);
    fuzz::require(repeated.shapes == std::vector{shape}, "a shape is read as it was written", text);
  }
  fuzz::require(t.common.threads <= 4096 && t.common.time_limit_s <= 31536000 && t.max_time > 0, "numbers have limits");
}

/// An option and an environment variable with the same meaning must accept the same texts.
void require_same_memory(const std::string& word) {
  told option;
  if (!parse({"--device-memory", word}, option)) return;
  setenv("TILEWISE_DEVICE_MEMORY", word.c_str(), 1);
  fuzz::is_read({errc::invalid_argument}, [&] {
    fuzz::require(word.empty() || backend::limited_memory(~std::uint64_t{0}) == option.common.device_memory,
                  "an option and a variable are one number", word);
  });
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) c == '\n' ? static_cast<void>(lines.emplace_back()) : lines.back().push_back(c);
  return lines;
}

}  // namespace

TILEWISE_FUZZ_TARGET {
  const std::vector<std::string> words = lines_of(text);
  told t;
  if (parse(words, t))
    fuzz::is_read({errc::invalid_argument}, [&] {
      lab::request posed{.documents = {}};
      cli::pose(t.problem, posed);
      require_within_limits(t, posed);
    });
  if (words.back().find('\0') == std::string::npos) require_same_memory(words.back());
}
