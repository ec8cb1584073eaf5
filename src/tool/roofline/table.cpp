// SPDX-License-Identifier: Apache-2.0
#include "tool/roofline/table.hpp"

#include "base/variable.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "tool/bench/record_cells.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

namespace tilewise::cli {

namespace {

using nlohmann::ordered_json;
using report::arithmetic_roof;
using report::memory_level;
using report::roofline;
using report::roofline_point;
using point_list = std::vector<const roofline_point*>;

constexpr std::size_t line_width = 80, name_width = 29;

std::string lines_of(const std::string& sentence) { return folded(sentence, line_width, "  ") + "\n"; }
/// A detail line below a problem.
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

/// The speed for a time, in the unit of the algorithm.
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

/// The settings that distinguish it from another problem of the same name.
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

namespace {

constexpr std::size_t most_lines = 20, most_points = 26, margin = 6;  // "100G |"
constexpr std::size_t least_columns = 40, least_rows = 6;

struct span_of_values {
  double least = 0, most = 0;

  void add(double value) {
    least = least == 0 ? value : std::min(least, value);
    most = std::max(most, value);
  }
};

/// A logarithmic axis over whole decades.
class decades {
 public:
  decades(const span_of_values& of, std::size_t cells)
      : from_(std::floor(std::log10(of.least))),
        to_(std::max(std::ceil(std::log10(of.most)), from_ + 1)),
        cells_(static_cast<double>(cells - 1)) {}

  /// The position in cells from the beginning of the axis.
  double at(double value) const { return (std::log10(value) - from_) / (to_ - from_) * cells_; }
  std::size_t cell(double value) const { return static_cast<std::size_t>(std::lround(at(value))); }
  double value(std::size_t cell) const {
    return std::pow(10, from_ + static_cast<double>(cell) / cells_ * (to_ - from_));
  }
  /// The powers of ten to label: all, or as many as fit.
  std::vector<double> marks(double most) const {
    const double step = std::max(1.0, std::ceil((to_ - from_) / most));
    std::vector<double> all;
    for (double power = from_; power <= to_; power += step) all.push_back(std::pow(10, power));
    return all;
  }

 private:
  double from_, to_, cells_;
};

/// 1e11 as "100G", 0.01 as "0.01".
std::string short_number(double value) {
  constexpr std::array<const char*, 7> units{"", "k", "M", "G", "T", "P", "E"};
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%g%s", value, units[unit]);
  return text;
}

class canvas {
 public:
  canvas(const decades& x, const decades& y, std::size_t columns, std::size_t rows)
      : x_(x), y_(y), lines_(rows, std::string(columns, ' ')) {}

  /// Draws a function with a low, middle or high character, by its height within the line.
  template <class Function>
  void draw(const Function& function) {
    for (std::size_t column = 0; column < lines_.front().size(); ++column) {
      const double value = function(x_.value(column));
      if (!(value > 0)) continue;
      const double at = y_.at(value), row = std::round(at);
      if (row < 0 || row >= static_cast<double>(lines_.size())) continue;
      const double within = at - row;
      cell(column, static_cast<std::size_t>(row)) = within < -1.0 / 6 ? '_' : within > 1.0 / 6 ? '\'' : '-';
    }
  }
  void mark(double x, double y, char letter) { cell(x_.cell(x), y_.cell(y)) = letter; }

  const std::string& line_at(std::size_t row) const { return lines_[lines_.size() - 1 - row]; }

 private:
  char& cell(std::size_t column, std::size_t row) { return lines_[lines_.size() - 1 - row][column]; }

  const decades &x_, &y_;
  std::vector<std::string> lines_;  // from the top
};

/// Algorithm and type: several problems of one kind may share their largest size.
std::string kind_of(const roofline_point& at) { return at.what->algorithm + "." + at.what->dtype; }

std::string legend_of(const point_list& points, std::size_t columns) {
  constexpr char tie = '~';  // between a letter and its name, to keep both on one line
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::string{static_cast<char>('a' + i), tie} + kind_of(*points[i]);
  std::string lines = folded(text, columns, "  ") + "\n";
  std::replace(lines.begin(), lines.end(), tie, ' ');
  return lines;
}

std::string rate_of_all_types(double per_s) { return report::operation_rate(per_s, ""); }

std::string pair_of(const span_of_values& of, std::string (*text)(double)) {
  return text(of.most) + (of.least < of.most ? " and " + text(of.least) : "");
}

/// The labels of the powers of ten below the axis, each under its column.
std::string marks_of(const decades& x, std::size_t columns) {
  std::string line(columns, ' ');
  for (const double value : x.marks(static_cast<double>(columns - margin) / 8)) {
    const std::string text = short_number(value);
    const std::size_t column = std::min(margin + x.cell(value), columns - text.size());
    line.replace(column, text.size(), text);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string drawing_of(const canvas& picture, const decades& y, std::size_t rows) {
  std::string text;
  std::vector<std::string> labels(rows);
  for (const double value : y.marks(static_cast<double>(rows) / 2)) labels[y.cell(value)] = short_number(value);
  for (std::size_t row = rows; row-- > 0;) {
    std::string line = right(labels[row], margin - 2) + (labels[row].empty() ? " |" : " +") + picture.line_at(row);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string roofline_chart(const report::roofline& of, std::size_t columns) {
  point_list points;
  for (const roofline_point* at : largest_points(of))
    if (at->is_drawn() && points.size() < most_points) points.push_back(at);
  if (points.empty() || columns < least_columns) return "";
  span_of_values memory, arithmetic, intensity, speed;
  for (const roofline_point* at : points) {
    memory.add(*at->memory), arithmetic.add(*at->arithmetic);
    intensity.add(at->intensity), intensity.add(*at->balance());
    speed.add(at->reached()), speed.add(*at->arithmetic);
  }
  const std::string roofs =
      "slanted: " + pair_of(memory, report::rate) + "; level: " + pair_of(arithmetic, rate_of_all_types);
  const std::string below = folded(roofs, columns, "  ") + "\n" + legend_of(points, columns);
  const auto lines_below = static_cast<std::size_t>(std::count(below.begin(), below.end(), '\n'));
  constexpr std::size_t lines_around = 3;  // title, axis, and labels
  if (lines_around + least_rows + lines_below > most_lines) return "";
  const std::size_t rows = most_lines - lines_around - lines_below;
  const decades x(intensity, columns - margin), y(speed, rows);
  canvas picture(x, y, columns - margin, rows);
  for (const double roof : {arithmetic.least, arithmetic.most})
    picture.draw([&](double at) { return roof <= at * memory.most ? roof : 0; });
  for (const double slope : {memory.least, memory.most})
    picture.draw([&](double at) { return at * slope <= arithmetic.most ? at * slope : 0; });
  for (std::size_t i = points.size(); i-- > 0;)
    picture.mark(points[i]->intensity, points[i]->reached(), static_cast<char>('a' + i));
  return "operations/s against operations a byte\n" + drawing_of(picture, y, rows) + std::string(margin - 1, ' ') +
         "+" + std::string(columns - margin, '-') + "\n" + marks_of(x, columns) + below;
}

std::size_t chart_columns() {
  constexpr std::size_t most = 76;
  const unsigned long columns = std::strtoul(base::variable("COLUMNS").c_str(), nullptr, 10);
  return columns == 0 ? most : std::min<std::size_t>(columns, most);
}

}  // namespace tilewise::cli
