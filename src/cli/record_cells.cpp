#include "cli/record_cells.hpp"

#include "cli/output.hpp"
#include "report/format.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace tilewise::cli {

using lab::record;
using lab::status;

const lab::series* kernel_of(const record& r) {
  const bool timed = (r.state == status::ok || r.state == status::interrupted) && r.time.kernel;
  return timed && !r.time.kernel->ns.empty() ? &*r.time.kernel : nullptr;
}

double median_ns(const record& r) { return lab::summarize(kernel_of(r)->ns).median; }

namespace {

/// Display width: every byte but UTF-8's continuation bytes, such as those of µ.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}
std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

bool is_limit(const record& r) { return r.what.algorithm == lab::name_of(r.bound_by); }

std::string label_of(const record& r) {
  const std::string name = is_limit(r) ? r.what.algorithm : r.what.variant.substr(r.what.variant.find('/') + 1);
  return name + " @" + r.what.place + (r.what.tuning_changes.empty() ? "" : " " + r.what.tuning_changes);
}

std::string wrapped(const std::string& label) {
  std::istringstream words(label);
  std::string lines, line;
  for (std::string word; words >> word; line += word) {
    if (line.empty()) continue;
    if (line.size() + 1 + word.size() > label_width)
      lines += std::exchange(line, "  ") + "\n";
    else
      line += ' ';
  }
  return lines + left(line, label_width) + " ";
}

std::string spread_of(const lab::summary& s) {
  if (!s.ci95) return "";
  return report::significant(100 * std::max(s.ci95->hi - s.median, s.median - s.ci95->lo) / s.median, 2) + "%";
}

std::string bits_of(const record& r) {
  if (!r.verified) return "";
  if (!r.verified->ok) return coloured("WRONG", colour::red);
  return r.what.order == registry::claim::tilewise ? coloured("=", colour::green) : "~";
}

std::string size_of_problem(const record& r) {
  return r.what.shape.rank == 1 ? report::count(r.what.shape[0]) : registry::to_string(r.what.shape);
}

std::string problem_name(const record& r) {
  std::string text = r.what.algorithm + "." + std::string(name_of(r.what.type)) + "  n = ";
  text += size_of_problem(r);
  for (const auto& [name, value] : r.what.settings)
    if (value != "none") text += "  " + name + " " + value;
  return text;
}

}  // namespace tilewise::cli
