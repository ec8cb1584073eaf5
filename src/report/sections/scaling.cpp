// SPDX-License-Identifier: Apache-2.0
// Speedup against the number of threads or ranks, from records that differ only in that number.
#include "report/scale/scaling.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"

#include <algorithm>
#include <span>

namespace tilewise::report {

namespace {

using nlohmann::json;

/// With two points every program would be a line.
constexpr std::size_t least_of_chart = 3;
/// Each curve has a law beside it, and all share the ideal line. The table has the other curves.
constexpr std::size_t most_curves = (most_lines - 1) / 2;

/// The curves at the largest size that has any.
std::vector<scaling_curve> curves_of(const panel& p) {
  std::vector<const row*> rows;
  for (const board& b : p.boards)
    for (const series& s : b.all) rows.insert(rows.end(), s.rows.begin(), s.rows.end());
  std::vector<scaling_curve> curves = scaling_curves(rows, scaling_kind::strong);
  std::erase_if(curves, [](const scaling_curve& c) { return c.points.size() < least_of_chart || c.one() == nullptr; });
  std::uint64_t largest = 0;
  for (const scaling_curve& c : curves) largest = std::max(largest, c.largest().n);
  std::erase_if(curves, [&](const scaling_curve& c) { return c.largest().n != largest; });
  return curves;
}

std::string label_of(const scaling_curve& c) { return name_on(c.largest().variant, c.processors); }

/// Points of a law or the ideal, at each doubling from one processor to `last`.
template <class Speedup>
json drawn(double last, const Speedup& speedup) {
  json points = json::array();
  for (double p = 1; p < last; p *= 2) points.push_back(chart_point(p, {speedup(p), {}, {}}, true));
  points.push_back(chart_point(last, {speedup(last), {}, {}}, true));
  return points;
}

json scaling_chart(std::span<const scaling_curve> curves, page_builder& page) {
  json lines = json::array();
  chart_colours colours(page);
  double most = 1;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const scaling_curve& c = curves[i];
    json points = json::array();
    for (const scaling_point& point : c.points)
      points.push_back(chart_point(static_cast<double>(point.p), *point.over_one, point.what->ranked()));
    lines.push_back(chart_line(label_of(c), role::tilewise,
                               colours.of(c.largest().algorithm, role::tilewise, label_of(c)), std::move(points)));
    most = std::max(most, static_cast<double>(c.points.back().p));
    if (const scaling_fit* law = c.fit(scaling_law::amdahl))
      lines.push_back(chart_line(
          "Amdahl, s = " + percent(law->serial.median), role::limit, i,
          drawn(static_cast<double>(extrapolation * c.last_fitted()), [&](double p) { return law->speedup(p); })));
  }
  lines.push_back(chart_line("ideal", role::serial, 0, drawn(most, [](double p) { return p; })));
  return {{"kind", "lines"}, {"x", "p, threads or ranks"}, {"y", "times one"}, {"unit", "ratio"},
          {"counts", "p"},   {"lines", std::move(lines)}};
}

html ratio_cell(const std::optional<interval>& value) {
  if (!value) return "–";
  std::string text = significant(value->median, 3);
  if (value->low && value->high && *value->low != *value->high)
    text += " (" + significant(*value->low, 3) + " to " + significant(*value->high, 3) + ")";
  return html::text(text);
}

template <class Label>
html scaling_numbers(const std::vector<scaling_curve>& curves, const Label& label) {
  std::vector<std::vector<html>> rows;
  for (const scaling_curve& c : curves)
    for (const scaling_point& point : c.points)
      rows.push_back({html::text(label(c)), html::text(count(point.p)),
                      html::text(duration(point.what->kernel->median)), ratio_cell(point.over_one),
                      ratio_cell(point.over_best), ratio_cell(point.efficiency), ratio_cell(point.cost),
                      ratio_cell(point.serial_fraction), html::text(point.exchange ? percent(*point.exchange) : "–"),
                      point.is_superlinear ? html("cache") : html("–")});
  return table("Ratios of medians, with their 95 % intervals.",
               {"variant", "p", "time", "over p = 1", "over the best for one", "efficiency", "cost", "Karp-Flatt",
                "exchanging", "note"},
               rows);
}

/// The name of a curve among those of many problems.
std::string name_of(const scaling_curve& c) {
  const row& r = c.largest();
  return r.algorithm + " " + r.dtype + ", " + (c.kind == scaling_kind::weak ? "up to " : "") + r.at() + ", " +
         label_of(c);
}

std::string said_of(const scaling_curve& c) {
  const scaling_point& last = c.points.back();
  std::string text = factor(last.over_one->median) + " times as fast on " + count(last.p) + ".";
  for (const scaling_fit& f : c.fits) text += " " + fit_finding(f) + ".";
  for (const std::string& more : {cost_finding(c), superlinear_finding(c), crowding_finding(c)})
    if (!more.empty()) text += " " + more;
  return text;
}

std::string finding_of(const scaling_curve& c) { return label_of(c) + ": " + said_of(c); }

/// The laws of all curves of one kind. A curve without p = 1 is left out, since it shows no law.
html laws_of(const std::vector<const row*>& rows, scaling_kind kind, const char* heading, const char* words) {
  std::vector<scaling_curve> curves = scaling_curves(rows, kind);
  std::erase_if(curves, [](const scaling_curve& c) { return c.one() == nullptr || c.points.size() < 2; });
  if (curves.empty()) return {};
  std::vector<html> findings;
  for (const scaling_curve& c : curves) findings.push_back(html::sentence(name_of(c) + ": " + said_of(c)));
  return tag("h4", html::text(heading)) + paragraph(words) + list("ul", {}, findings) +
         folded("The numbers", scaling_numbers(curves, name_of));
}

}  // namespace

namespace {

/// Both laws for the lecture's serial share of one half, and the measured curves of the largest problem.
html given_laws_figure(const std::vector<const row*>& rows, page_builder& page) {
  constexpr double s = 0.5, most = 32;
  std::vector<scaling_curve> curves = scaling_curves(rows, scaling_kind::strong);
  std::erase_if(curves, [](const scaling_curve& c) { return c.one() == nullptr || c.points.size() < 2; });
  double largest = 0;
  for (const scaling_curve& c : curves) largest = std::max(largest, c.largest().operations);
  std::erase_if(curves, [&](const scaling_curve& c) { return c.largest().operations < largest; });
  curves.erase(curves.begin() + static_cast<std::ptrdiff_t>(std::min(curves.size(), most_lines - 3)), curves.end());
  json lines = json::array();
  chart_colours colours(page);
  for (const scaling_curve& c : curves) {
    json points = json::array();
    for (const scaling_point& point : c.points)
      points.push_back(chart_point(static_cast<double>(point.p), *point.over_one, point.what->ranked()));
    lines.push_back(chart_line(label_of(c), role::tilewise, colours.of("documents", role::tilewise, label_of(c)),
                               std::move(points)));
  }
  const auto amdahl = [](double p) { return 1 / (s + (1 - s) / p); };
  const auto gustafson = [](double p) { return s + (1 - s) * p; };
  lines.push_back(chart_line("Amdahl, S = 0.5", role::limit, 0, drawn(most, amdahl)));
  lines.push_back(chart_line("Gustafson, S = 0.5", role::limit, 1, drawn(most, gustafson)));
  lines.push_back(chart_line("ideal", role::serial, 0, drawn(most, [](double p) { return p; })));
  std::vector<std::vector<html>> numbers;
  for (double p = 1; p <= most; p *= 2)
    numbers.push_back({html::text(count(static_cast<std::uint64_t>(p))), html::text(factor(amdahl(p))),
                       html::text(factor(gustafson(p)))});
  const std::string measured = curves.empty() ? "No program was measured on several processors."
                                              : "Measured here: " + curves.front().largest().algorithm + ", " +
                                                    curves.front().largest().at() + ".";
  return page.figure({{"kind", "lines"},
                      {"x", "p, threads or ranks"},
                      {"y", "speedup"},
                      {"unit", "ratio"},
                      {"counts", "p"},
                      {"lines", std::move(lines)}},
                     "Both laws for a serial share of one half, and what was measured.", measured,
                     table("The laws for S = 0.5.", {"p", "Amdahl", "Gustafson"}, numbers));
}

}  // namespace

html scaling_laws(const model& m, const std::string& machine, page_builder& page) {
  std::vector<const row*> rows;
  for (const row& r : m.rows)
    if (r.machine == machine && (r.experiment == nullptr || r.ranks != nullptr) && !is_job(r.mode)) rows.push_back(&r);
  html laws = tag("div", {{"class", "figures"}}, given_laws_figure(rows, page));
  laws += laws_of(rows, scaling_kind::strong, "Amdahl: the same work on more processors",
                  "The fraction of Karp and Flatt is the serial part that explains a point alone. Flat over p it is "
                  "serial work; rising, it is overhead that grows with p.");
  laws += laws_of(rows, scaling_kind::weak, "Gustafson: more processors, more work",
                  "The work is p times that of one processor, and speedups count it: p is p times the work in the same "
                  "time.");
  return tag("h3", "How programs scale on this machine") + laws;
}

html scaling_section(const panel& p, page_builder& page) {
  const std::vector<scaling_curve> curves = curves_of(p);
  if (curves.empty()) return {};
  std::string text;
  for (const scaling_curve& c : curves) text += (text.empty() ? "" : " ") + finding_of(c);
  return tag("h4", "Scaling") +
         paragraph(
             "The same problem with more threads or ranks, as a ratio of medians. The dotted laws go on to "
             "twice the last p that they were fitted to.") +
         tag("div", {{"class", "figures"}},
             page.figure(scaling_chart(std::span(curves).first(std::min(curves.size(), most_curves)), page),
                         "Speedup against p, " + curves.front().largest().at(), text,
                         scaling_numbers(curves, label_of)));
}

}  // namespace tilewise::report
