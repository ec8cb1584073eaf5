// SPDX-License-Identifier: Apache-2.0
// Roofline charts: one for each device with the algorithms at their largest sizes, and one in each algorithm's part
// with its own points. roofline.hpp has the model.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"

#include <algorithm>
#include <set>

namespace tilewise::report {

namespace {

using nlohmann::json;
using point_list = std::vector<const roofline_point*>;

struct axis_range {
  double from, to;
};

/// Whether some point has both roofs: bandwidth alone does not show what bounds a point.
bool has_both_roofs(const point_list& points) {
  return std::any_of(points.begin(), points.end(), [](const roofline_point* at) { return at->is_drawn(); });
}

/// The range of all points and of each roof's ridge.
axis_range range_of(const point_list& points) {
  axis_range range{1, 1};
  for (const roofline_point* at : points) {
    range.from = std::min({range.from, at->intensity / 2, *at->balance() / 4});
    range.to = std::max({range.to, at->intensity * 4, *at->balance() * 4});
  }
  return range;
}

json roof_line(const std::string& label, std::size_t index, const std::vector<std::pair<double, double>>& through) {
  json points = json::array();
  for (const auto& [x, y] : through) points.push_back(chart_point(x, {y, {}, {}}, true));
  return chart_line(label, role::limit, index, std::move(points));
}

/// The roofs that the points are compared with: sloped up to the highest arithmetic roof, level from the fastest memory
/// on.
json roofs_of(const roofline& of, const point_list& points) {
  const axis_range range = range_of(points);
  double highest = 0, fastest = 0;
  std::set<std::pair<std::string, double>> flats;
  for (const roofline_point* at : points) {
    highest = std::max(highest, *at->arithmetic);
    fastest = std::max(fastest, *at->memory);
  }
  // Roofs of one kind and type differ only by noise, so one is drawn for all.
  for (const roofline_point* at : points) {
    const std::string label = at->what->dtype + " " + std::string(name_of(at->arithmetic_by));
    if (std::none_of(flats.begin(), flats.end(), [&](const auto& f) { return f.first == label; }))
      flats.emplace(label, *at->arithmetic);
  }
  json lines = json::array();
  const auto add_slanted = [&](const std::string& label, double bytes_per_s) {
    fastest = std::max(fastest, bytes_per_s);
    lines.push_back(roof_line(label, 0, {{range.from, range.from * bytes_per_s}, {highest / bytes_per_s, highest}}));
  };
  for (const memory_level& level : of.roofs.levels)
    add_slanted(level.to >= of.roofs.readings.back().bytes ? "read, beyond " + bytes(level.from)
                                                           : "read, to " + bytes(level.to),
                level.bytes_per_s);
  if (of.roofs.levels.empty() && !of.roofs.copies.empty())
    add_slanted("copy, " + bytes(of.roofs.copies.back().bytes), of.roofs.copies.back().bytes_per_s);
  for (const auto& [label, per_s] : flats)
    if (lines.size() < most_lines) lines.push_back(roof_line(label, 1, {{per_s / fastest, per_s}, {range.to, per_s}}));
  return lines;
}

json marks_of(const point_list& points, bool names_algorithm) {
  json marks = json::array();
  for (const roofline_point* at : points) {
    const row& r = *at->what;
    const double work = r.operations * 1e9;
    const interval y{at->reached(), r.kernel->high ? std::optional(work / *r.kernel->high) : std::nullopt,
                     r.kernel->low && *r.kernel->low > 0 ? std::optional(work / *r.kernel->low) : std::nullopt};
    json mark = chart_point(at->intensity, y, r.ranked() && !at->is_implausible());
    marks.push_back({{"label", names_algorithm ? r.algorithm + " " + r.dtype : r.size()},
                     {"colour", at->is_memory_bound() ? "ours0" : "peer0"},
                     {"point", std::move(mark)}});
  }
  return marks;
}

std::string share_of(const roofline_point& at) { return marked(at.has_sure_limit(), percent(at.share())); }

html numbers(const roofline& of, const std::vector<const roofline_point*>& points) {
  std::vector<std::vector<html>> rows;
  for (const roofline_point* at : points) {
    const row& r = *at->what;
    const auto balance = at->balance();
    rows.push_back({html::text(r.algorithm + " " + r.dtype + ", " + r.at() +
                               (r.asked_data.empty() ? "" : ", data=" + r.asked_data)),
                    html::text(bytes(r.bytes)), html::text(significant(r.operations, 3)),
                    html::text(significant(at->intensity, 3)), html::text(balance ? significant(*balance, 3) : "–"),
                    html::text(at->has_limit() ? marked(at->has_sure_limit(), duration(at->limit_ns())) + ", " +
                                                     std::string(name_of(at->bound_by()))
                                               : "–"),
                    html::text(marked_time(r)), html::text(r.name()),
                    html::text((at->has_limit() ? share_of(*at) : "–") +
                               (at->is_implausible() ? ": " + why_implausible(of, *at) : ""))});
  }
  return table(
      "Compulsory bytes and counted operations, as each algorithm’s README states them; the balance is the "
      "device’s, between the two roofs that the problem is held against.",
      {"problem", "bytes", "operations", "operations a byte", "balance", "limit", "reached", "variant", "of the limit"},
      rows, content::words);
}

/// Names the points near such a limit. A limit in doubt is marked; points whose time is in doubt are left out.
std::string names_of(const point_list& points, std::string_view bound) {
  std::vector<std::string> names;
  for (const roofline_point* at : points) {
    const std::string name = marked(at->has_sure_limit(), at->what->algorithm);
    if (!at->has_sure_limit() && at->is_implausible()) continue;
    if (at->has_limit() && at->what->ranked() && is_near_its_limit(at->share()) &&
        bound_word(at->bound_by()) == bound && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return listed(names, 8);
}

/// "reduce f32 with 110 % of copy at n = 1,024"
std::string share_at(const roofline_point& at) {
  return at.what->algorithm + " " + at.what->dtype + " with " + share_of(at) + " of " +
         std::string(name_of(at.bound_by())) + " at " + at.what->at();
}

/// Points above their limit are named with the reason.
std::string finding_of(const roofline& of, const point_list& points) {
  constexpr std::size_t most_named = 3;
  std::string text;
  for (const std::string bound : {"memory", "arithmetic", "launch"})
    if (const std::string names = names_of(points, bound); !names.empty())
      text += "Bound by " + bound + ": " + names + ". ";
  const roofline_point* nearest = nullptr;
  std::vector<std::string> above;
  for (const roofline_point* at : points) {
    if (!at->has_limit() || !at->what->ranked()) continue;
    if (at->is_implausible())
      above.push_back(share_at(*at) + " (" + why_implausible(of, *at) + ")");
    else if (nearest == nullptr || at->share() > nearest->share())
      nearest = at;
  }
  if (nearest != nullptr)
    text += (text.empty() && above.empty() ? "Nothing is near its limit. " : "") +
            std::string("Nearest to its limit: ") + share_at(*nearest) + ". ";
  if (!above.empty()) text += "Above it: " + listed(above, most_named) + ".";
  return text.empty() ? "No time that can be trusted has a limit." : text;
}

/// A chart; only words if the points lie at fewer than three positions of its axis.
html figure_of(const roofline& of, const point_list& points, const std::string& title, bool names_algorithm,
               page_builder& page) {
  point_list drawn;
  std::copy_if(points.begin(), points.end(), std::back_inserter(drawn), [](const auto* at) { return at->is_drawn(); });
  std::set<double> places;
  for (const roofline_point* at : drawn) places.insert(at->intensity);
  if (places.size() < 3)
    return names_algorithm ? paragraph(title + " " + finding_of(of, points)) +
                                 folded("What bounds each problem", numbers(of, points))
                           : tag("div", paragraph("On " + of.device + ": " + finding_of(of, points)) +
                                            folded("The numbers", numbers(of, points)));
  return page.figure({{"kind", "roofline"},
                      {"x", "counted operations / compulsory bytes"},
                      {"y", "operations / time"},
                      {"unit", "operations"},
                      {"roofs", roofs_of(of, drawn)},
                      {"marks", marks_of(drawn, names_algorithm)}},
                     title, finding_of(of, points), numbers(of, points));
}

}  // namespace

html roofline_section(const std::vector<roofline>& all, page_builder& page) {
  html figures;
  std::set<std::string_view> machines;
  for (const roofline& of : all) machines.insert(of.machine);
  std::size_t shown = 0, left = 0;
  for (const roofline& of : all) {
    const point_list points = largest_points(of);
    if (!has_both_roofs(points)) continue;
    if (figures.size() >= page_limits::section || shown == page_limits::boards) {
      ++left;
      continue;
    }
    ++shown;
    const std::string hardware = of.hardware.empty() || of.hardware == of.device ? "" : " (" + of.hardware + ")";
    figures +=
        figure_of(of, points, of.device + hardware + (machines.size() > 1 ? ", " + of.machine : "") + ".", true, page);
  }
  if (figures.empty()) return {};
  return paragraph(
             "What does more operations for each byte than the device’s balance is bound by arithmetic, all else by "
             "memory: the roofline model of Williams, Waterman and Patterson (2009). Each algorithm is shown at its "
             "largest size by the fastest of ours; its limit is the lower of the two roofs that it is held against, "
             "which were measured on this device, or a launch. Hollow marks are in doubt, or above their "
             "limit.") +
         tag("div", {{"class", "figures wide"}}, figures) + left_out(left, "devices");
}

html bounds_section(const panel& p, const std::vector<roofline>& all, page_builder& page) {
  html figures;
  for (const roofline& of : all) {
    point_list points;
    for (const roofline_point& at : of.points)
      if (at.of == &p) points.push_back(&at);
    if (has_both_roofs(points)) figures += figure_of(of, points, "Roofline on " + of.device + ".", false, page);
  }
  if (figures.empty()) return {};
  return tag("h4", "What bounds it") + tag("div", {{"class", "figures wide"}}, figures);
}

}  // namespace tilewise::report
