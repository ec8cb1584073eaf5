#include "cli/bench_table.hpp"

#include "cli/output.hpp"
#include "report/format.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tilewise::cli {

namespace {

using lab::record;
using lab::status;

const lab::series* kernel_of(const record& r) {
  const bool timed = (r.state == status::ok || r.state == status::interrupted) && r.time.kernel;
  return timed && !r.time.kernel->ns.empty() ? &*r.time.kernel : nullptr;
}

double median_ns(const record& r) { return lab::summarize(kernel_of(r)->ns).median; }

/// What others are held against: the standard library on one thread, else the definition.
const record* baseline_of(const std::vector<record>& rows) {
  for (const char* ending : {"/cpu:std", "/serial"})
    for (const record& r : rows)
      if (r.what.variant.ends_with(ending) && kernel_of(r) != nullptr) return &r;
  return nullptr;
}

/// Display width: every byte but UTF-8's continuation bytes, such as those of µ.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}
std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}
std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

/// A row's tuning is shown where another row differs in nothing else.
bool has_sibling(const record& r, const std::vector<record>& rows) {
  return std::count_if(rows.begin(), rows.end(), [&](const record& other) {
           return other.what.group == r.what.group && other.what.variant == r.what.variant &&
                  other.device.name == r.device.name;
         }) > 1;
}

std::string label_of(const record& r, const std::vector<record>& rows) {
  const std::string name = r.what.variant.substr(r.what.variant.find('/') + 1);
  const std::string shown = r.what.algorithm == "copy" ? "copy" : name;
  return shown + " @" + r.device.name + (has_sibling(r, rows) ? " " + r.what.tuning : "");
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

constexpr std::size_t label_width = 31;

std::string line_of(const record& r, const std::vector<record>& rows) {
  const record* baseline = baseline_of(rows);
  std::string label = label_of(r, rows);
  if (label.size() > label_width) label.resize(label_width);
  const std::string start = left(label, label_width) + " ";
  const lab::series* kernel = kernel_of(r);
  if (kernel == nullptr) {
    const std::string reason = r.reason.substr(0, r.state == status::wrong ? 0 : 80 - label_width - 12);
    return start + left(std::string(lab::name_of(r.state)), 8) + " " + reason + (reason.empty() ? "" : "  ") +
           bits_of(r) + "\n";
  }
  const lab::summary s = lab::summarize(kernel->ns);
  const double rate = r.what.bytes_min / s.median;
  const std::string of_copy = r.ceiling_bytes_per_s && r.what.algorithm != "copy"
                                  ? report::significant(100 * rate * 1e9 / *r.ceiling_bytes_per_s, 3) + "%"
                                  : "";
  const std::string speedup =
      baseline != nullptr && r.what.algorithm != "copy" ? report::factor(median_ns(*baseline) / s.median) + "x" : "";
  return start + right(report::duration(s.median), 8) + right(spread_of(s), 7) +
         right(report::significant(rate, 3), 7) + right(of_copy, 8) + right(speedup, 9) + "  " + bits_of(r) +
         (r.plausible ? "" : " implausible") + "\n";
}

std::string problem_title(const record& r) {
  std::string text = r.what.algorithm + "." + std::string(name_of(r.what.type)) + "  n = ";
  text += r.what.shape.rank == 1 ? report::count(r.what.shape[0]) : registry::to_string(r.what.shape);
  for (const auto& [name, value] : r.what.settings)
    if (value != "none") text += "  " + name + " " + value;
  return text + (r.what.cold ? "  cold" : "");
}

}  // namespace

std::string bench_heading() {
  return left("variant @device", label_width) + "   kernel    +-%   GB/s of copy   vs std  bits\n";
}

std::string bench_block(const std::vector<record>& rows) {
  std::string text = "\n" + problem_title(rows.front()) + "\n";
  for (const record& r : rows) text += line_of(r, rows);
  return text;
}

std::string bench_verdict(const std::vector<record>& rows) {
  std::size_t right_bits = 0, wrong = 0, failed = 0;
  std::map<std::string, const record*> fastest;  // by algorithm, at its largest size
  for (const record& r : rows) {
    wrong += r.state == status::wrong;
    failed += r.state == status::failed;
    if (r.what.order != registry::claim::tilewise || !r.verified || !r.verified->ok) continue;
    ++right_bits;
    if (kernel_of(r) == nullptr || !r.plausible) continue;
    const record*& best = fastest[r.what.algorithm];
    if (best == nullptr || r.what.shape[0] > best->what.shape[0] ||
        (r.what.shape[0] == best->what.shape[0] &&
         median_ns(r) / r.what.bytes_min < median_ns(*best) / best->what.bytes_min))
      best = &r;
  }
  std::string text = wrong != 0
                         ? coloured("WRONG: " + std::to_string(wrong) + " results differ", colour::red)
                         : "All " + std::to_string(right_bits) + " results in the order have the definition's bits";
  if (wrong == 0 && right_bits == 0) text = "No result in the order was checked";
  if (failed != 0) text += "; " + std::to_string(failed) + " rows failed";
  for (const auto& [algorithm, r] : fastest)
    text += "; fastest " + algorithm + " of " + report::count(r->what.shape[0]) + ": " + label_of(*r, rows) + ", " +
            report::duration(median_ns(*r));
  return "\n" + text + ".\n";
}

}  // namespace tilewise::cli
