// SPDX-License-Identifier: Apache-2.0
#include "tool/roofline/table.hpp"

#include "report/findings.hpp"
#include "report/format.hpp"
#include "tool/bench/record_cells.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace tilewise::cli {

namespace {

using nlohmann::ordered_json;
using report::arithmetic_roof;
using report::memory_level;
using report::roofline;
using report::roofline_point;

constexpr std::size_t line_width = 80, name_width = 29;

std::string lines_of(const std::string& sentence) { return folded(sentence, line_width, "  ") + "\n"; }
/// Below a problem.
std::string detail(const std::string& sentence) { return "  " + folded(sentence, line_width - 2, "    ") + "\n"; }

std::string how_far(const memory_level& level, const report::device_roofs& roofs) {
  if (level.to < roofs.readings.back().bytes) return " up to " + report::bytes(level.to) + ",";
  return roofs.levels.size() > 1 ? " beyond" : "";
}

std::string memory_sentence(const roofline& of) {
  const report::device_roofs& roofs = of.roofs;
  if (roofs.levels.empty() && roofs.copies.empty()) return "Memory: not measured.";
  std::string text = "Memory: ";
  for (const memory_level& level : roofs.levels)
    text += "reads " + report::rate(level.bytes_per_s) + how_far(level, roofs) + " ";
  if (!roofs.levels.empty() && !roofs.copies.empty()) text += "and ";
  if (!roofs.copies.empty()) text += "copies " + report::rate(roofs.copies.back().bytes_per_s) + " ";
  text.back() = '.';
  return text;
}

std::string arithmetic_sentence(const roofline& of) {
  if (of.roofs.arithmetic.empty()) return "Arithmetic: not measured.";
  std::string text = "Arithmetic: ";
  for (const arithmetic_roof& a : of.roofs.arithmetic)
    text += (&a == &of.roofs.arithmetic.front() ? "" : ", ") + std::string(a.dtype) + " " + std::string(name_of(a.by)) +
            " " + report::operation_rate(a.per_s, a.dtype);
  text += ".";
  if (of.roofs.launch_ns) text += " Launch: " + report::duration(*of.roofs.launch_ns) + ".";
  return text;
}

std::string cell(const std::optional<double>& value, std::size_t width) {
  return right(value ? report::significant(*value, 3) : "-", width);
}

std::string share_of(const roofline_point& at) {
  if (!at.has_limit()) return "-";
  const double share = at.share();
  return (share >= 10    ? ">999%"
          : share < 1e-3 ? "<0.1%"
                         : report::significant(100 * share, 3) + "%") +
         (at.is_implausible() ? "!" : "");
}

/// A time in the unit of the algorithm.
std::string speed_in(double ns, const roofline_point& at) {
  const report::row& r = *at.what;
  const report::speed_unit unit = report::unit_of(r.algorithm);
  const double work = unit == report::speed_unit::bytes      ? r.bytes
                      : unit == report::speed_unit::elements ? static_cast<double>(r.n)
                                                             : r.operations;
  const double per_s = work / ns * 1e9;
  return report::duration(ns) + ", " + report::throughput_text(per_s, unit, r.dtype);
}

std::string name_of_problem(const report::row& r) {
  return r.algorithm + "." + r.dtype + " " + r.size() + (r.asked_data.empty() ? "" : " data=" + r.asked_data);
}

/// What tells it from another problem of the same name.
std::string settings_line(const report::row& r) {
  const std::string settings = report::shown_settings(r.settings);
  return settings.empty() ? "" : detail(settings);
}

std::string details_of(const roofline& of, const roofline_point& at) {
  const report::row& r = *at.what;
  std::string text = settings_line(r);
  std::string reached = report::bytes(r.bytes) + "; " + speed_in(r.kernel->median, at) + ", by " + r.name();
  reached += at.has_limit() ? "; limit " + report::marked(at.has_sure_limit(), speed_in(at.limit_ns(), at))
                            : "; no limit was measured";
  text += detail(reached);
  if (const std::string doubt = r.doubt(); !doubt.empty() && r.plausible) text += detail("? " + doubt);
  if (const std::string why = why_implausible(of, at); !why.empty()) text += detail("! " + why);
  return text;
}

std::string line_of(const roofline_point& at) {
  const report::row& r = *at.what;
  const std::string name = name_of_problem(r), doubt = r.ranked() || !r.plausible ? " " : "?";
  std::string text = name.size() > name_width ? name + "\n" + std::string(name_width, ' ') : left(name, name_width);
  text += cell(at.intensity, 8) + cell(at.balance(), 9) + right(report::duration(r.kernel->median), 9) + doubt +
          right(at.has_limit() ? report::duration(at.limit_ns()) : "-", 8) +
          (at.has_limit() && !at.has_sure_limit() ? "? " : "  ") +
          left(at.has_limit() ? std::string(name_of(at.bound_by())) : "", 7) + right(share_of(at), 6);
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

template <class T>
ordered_json maybe(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json to_json(const roofline& of, const roofline_point& at) {
  const report::row& r = *at.what;
  ordered_json told{{"algorithm", r.algorithm},
                    {"dtype", r.dtype},
                    {"shape", r.shape},
                    {"settings", r.settings},
                    {"data", r.data},
                    {"variant", r.variant},
                    {"device", r.device},
                    {"bytes", r.bytes},
                    {"operations", r.operations},
                    {"intensity", at.intensity},
                    {"balance", maybe(at.balance())},
                    {"memory_bytes_per_s", maybe(at.memory)},
                    {"arithmetic_per_s", maybe(at.arithmetic)},
                    {"time_ns", r.kernel->median},
                    {"in_doubt", !r.ranked()},
                    {"bound", nullptr}};
  if (!at.has_limit()) return told;
  told["bound"] = report::bound_word(at.bound_by());
  told["roof"] = name_of(at.bound_by());
  told["limit_ns"] = at.limit_ns();
  told["limit_in_doubt"] = !at.has_sure_limit();
  told["share"] = at.share();
  told["implausible"] = at.is_implausible() ? ordered_json(why_implausible(of, at)) : ordered_json();
  return told;
}

}  // namespace

std::string roofline_block(const roofline& of, bool names_machine, bool verbose) {
  std::string text = lines_of(of.device + (of.hardware.empty() || of.hardware == of.device ? "" : ": " + of.hardware) +
                              (names_machine ? ", " + of.machine : ""));
  text += lines_of(memory_sentence(of)) + lines_of(arithmetic_sentence(of));
  if (of.points.empty()) return text;
  text += left("problem", name_width) + right("op/byte", 8) + right("balance", 9) + right("time", 9) +
          right("limit", 9) + "  " + left("by", 7) + right("reached", 7) + "\n";
  std::map<std::string, int> named;
  for (const roofline_point& at : of.points) ++named[name_of_problem(*at.what)];
  for (const roofline_point& at : of.points) {
    text += line_of(at);
    if (verbose)
      text += details_of(of, at);
    else if (named[name_of_problem(*at.what)] > 1)
      text += settings_line(*at.what);
  }
  return text;
}

ordered_json to_json(const roofline& of) {
  ordered_json told{{"machine", of.machine}, {"device", of.device}, {"hardware", of.hardware}};
  told["levels"] = ordered_json::array();
  for (const memory_level& level : of.roofs.levels)
    told["levels"].push_back({{"from_bytes", level.from}, {"to_bytes", level.to}, {"bytes_per_s", level.bytes_per_s}});
  told["copy_bytes_per_s"] =
      of.roofs.copies.empty() ? ordered_json() : ordered_json(of.roofs.copies.back().bytes_per_s);
  told["launch_ns"] = maybe(of.roofs.launch_ns);
  told["arithmetic"] = ordered_json::array();
  for (const arithmetic_roof& a : of.roofs.arithmetic)
    told["arithmetic"].push_back({{"dtype", a.dtype}, {"roof", name_of(a.by)}, {"operations_per_s", a.per_s}});
  told["problems"] = ordered_json::array();
  for (const roofline_point& at : of.points) told["problems"].push_back(to_json(of, at));
  return told;
}

}  // namespace tilewise::cli
