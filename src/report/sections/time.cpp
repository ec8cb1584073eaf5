// SPDX-License-Identifier: Apache-2.0
// Time and throughput against n. Each chart shows the fastest row of every device and the best peers; the tables below
// have all others.
#include "base/printable.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tilewise::report {

namespace {

using nlohmann::json;

/// A series that is drawn.
struct leader {
  const board* on;
  const series* what;
};

/// The unit, which is the same on all boards of a panel.
speed_unit unit_of(const panel& p) {
  for (const board& b : p.boards)
    if (b.unit() != b.speed_in) return b.unit();
  return p.boards.front().speed_in;
}

/// The series of a role to draw, in order of priority: the fastest of each board at the largest size of the role there,
/// then those that are the fastest at another size, then the best of each other device for our variants, or all others.
/// The faster comes first.
std::vector<leader> leaders(const panel& p, role kind, std::size_t most) {
  std::vector<std::pair<std::pair<int, double>, leader>> found;
  const speed_unit unit = unit_of(p);
  for (const board& b : p.boards) {
    std::set<const series*> known;
    std::set<std::string_view> devices;
    const auto add = [&](int turn, const series& s, const row& at) {
      devices.insert(s.device);
      if (known.insert(&s).second) found.push_back({{turn, -at.throughput(unit).value_or(0)}, {&b, &s}});
    };
    const std::vector<std::uint64_t> sizes = b.sizes();
    for (auto n = sizes.rbegin(); n != sizes.rend(); ++n)
      if (const series* best = b.fastest_shown(kind, *n)) add(known.empty() ? 0 : 1, *best, *best->at(*n));
    std::vector<std::pair<double, const series*>> others;
    for (const series& s : b.all)
      if (const std::vector<const row*> rows = s.measured(); s.kind == kind && s.competes() && !rows.empty())
        others.emplace_back(-rows.back()->throughput(unit).value_or(0), &s);
    std::stable_sort(others.begin(), others.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    for (const auto& [speed, s] : others)
      if (kind != role::tilewise || !devices.contains(s->device)) add(2, *s, *s->measured().back());
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<leader> kept;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) kept.push_back(found[i].second);
  return kept;
}

std::vector<leader> operator+(std::vector<leader> left, const std::vector<leader>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// The series' name, with its processor if another has a series of this name.
std::string name_of(const panel& p, const board& on, const series& s) {
  const auto has_it = [&](const board& b) {
    return &b != &on && std::any_of(b.all.begin(), b.all.end(), [&](const series& x) { return x.label == s.label; });
  };
  return std::any_of(p.boards.begin(), p.boards.end(), has_it) ? s.label + " on " + on.name : s.label;
}

json time_lines(const panel& p, page_builder& page) {
  json lines = json::array();
  chart_colours colours(page);
  for (const leader& l : leaders(p, role::tilewise, 4) + leaders(p, role::peer, 3) + leaders(p, role::serial, 1)) {
    json points = json::array();
    for (const row* r : l.what->measured())
      points.push_back(chart_point(static_cast<double>(r->n), *r->kernel, r->ranked()));
    lines.push_back(
        chart_line(name_of(p, *l.on, *l.what), l.what->kind, colours.of(*l.what->rows.front()), std::move(points)));
  }
  return lines;
}

/// The speed that the limit of our fastest row allows at each size; no points if there is no limit.
json limit_line(const panel& p, const board& b, speed_unit unit) {
  json points = json::array();
  for (const std::uint64_t n : b.sizes()) {
    const series* best = b.fastest_shown(role::tilewise, n);
    if (const auto most = best ? speed_at_limit(*best->at(n), unit) : std::nullopt)
      points.push_back(chart_point(static_cast<double>(n), {*most, {}, {}}, best->at(n)->has_sure_limit));
  }
  return chart_line(p.boards.size() == 1 ? "limit" : "limit on " + b.name, role::limit, 0, std::move(points));
}

json rate_lines(const panel& p, speed_unit unit, page_builder& page) {
  json lines = json::array();
  chart_colours colours(page);
  for (const leader& l : leaders(p, role::tilewise, 3) + leaders(p, role::peer, 2)) {
    json points = json::array();
    for (const row* r : l.what->measured())
      if (const auto y = r->throughput(unit))
        points.push_back(chart_point(static_cast<double>(r->n), {*y, {}, {}}, r->ranked()));
    lines.push_back(
        chart_line(name_of(p, *l.on, *l.what), l.what->kind, colours.of(*l.what->rows.front()), std::move(points)));
  }
  for (const board* b : p.processors())
    if (json limit = limit_line(p, *b, unit); lines.size() < most_lines && !limit["points"].empty())
      lines.push_back(std::move(limit));
  return lines;
}

/// The definition's digest at `n`, from the rows of a panel.
std::string reference_digest(const panel& p, std::uint64_t n) {
  for (const board& b : p.boards)
    for (const series& s : b.all)
      if (const row* r = s.at(n); r != nullptr && !r->reference_digest.empty()) return r->reference_digest;
  return "";
}

html bits_mark(const row& r, const std::string& reference) {
  if (r.is_limit()) return {};
  if (r.own_order) return tag("small", " own order");
  return r.digest == reference && !reference.empty() ? html(" =") : tag("small", " other input");
}

html time_cell(const row* r, const std::string& reference) {
  if (!r) return "–";
  if (r->wrong()) return tag("strong", {{"class", "wrong"}}, "WRONG");
  if (!r->timed()) return html::text(std::string(record::name_of(r->status)));
  std::string text = marked_time(*r);
  if (const auto spread = r->kernel->spread()) text += " ± " + percent(*spread);
  if (!r->plausible) text += ", implausible";
  return html::text(text) + bits_mark(*r, reference);
}

html rate_cell(const row* r, speed_unit unit) {
  if (!r || !r->timed() || !r->throughput(unit)) return "–";
  std::string text = marked(r->ranked(), throughput_text(*r->throughput(unit), unit, r->dtype));
  if (shows_share(*r) && !r->is_limit()) text += ", " + share_text(*r) + " of " + std::string(name_of(*r->bound_by));
  return html::text(text);
}

/// A table with a line for each series and a column for each size.
template <class Cell>
html numbers(const panel& p, const std::string& caption, std::vector<html> first, const Cell& cell) {
  const std::set<std::uint64_t> sizes = p.sizes();
  std::vector<std::string> heads{"variant"};
  for (const std::uint64_t n : sizes) heads.push_back(p.size_at(n));
  std::vector<std::vector<html>> rows;
  if (!first.empty()) rows.push_back(std::move(first));
  for (const board& b : p.boards)
    for (const series& s : b.all) {
      if (s.does_fixed_work()) continue;
      auto& line = rows.emplace_back(std::vector<html>{html::text(name_of(p, b, s))});
      for (const std::uint64_t n : sizes) line.push_back(cell(s.at(n)));
    }
  return table(caption, heads, rows);
}

html time_numbers(const panel& p) {
  std::map<std::uint64_t, std::string> references;
  std::vector<html> first{"digest of the definition"};
  for (const std::uint64_t n : p.sizes()) {
    const std::string& reference = references.emplace(n, reference_digest(p, n)).first->second;
    first.push_back(tag("code", html::text(std::string(base::beginning(reference, 8)))));
  }
  return numbers(p,
                 "Median " + std::string(p.time_words()) +
                     " with its 95 % interval. The sign = means that all digits of the result’s digest are those of "
                     "the definition; results with an order of their own are within their bounds.",
                 first, [&](const row* r) { return time_cell(r, r ? references[r->n] : ""); });
}

html rate_numbers(const panel& p, speed_unit unit) {
  return numbers(p,
                 "Throughput, " + std::string(unit_words(unit)) +
                     ", and its share of the limit, which is the "
                     "fastest that was measured beside a problem and can be trusted.",
                 {}, [&](const row* r) { return rate_cell(r, unit); });
}

std::string time_finding(const panel& p) {
  std::string text;
  for (const board& b : p.boards)
    if (const std::string changes = crossings(b); !changes.empty()) text += "On " + b.name + ", " + changes + " ";
  return text.empty() ? "The fastest of each device, the best peers and the definition." : text;
}

std::string rate_finding(const panel& p, speed_unit unit) {
  const row* most = nullptr;
  for (const board& b : p.boards)
    if (const series* best = b.fastest(role::tilewise, b.largest_size())) {
      const row* r = best->at(b.largest_size());
      if (r->throughput(unit) && (!most || *r->throughput(unit) > *most->throughput(unit))) most = r;
    }
  if (!most) return "No throughput of ours can be trusted at the largest size.";
  return "The most at the largest size: " + most->name() + " with " +
         marked(most->ranked(), throughput_text(*most->throughput(unit), unit, p.dtype)) +
         (shows_share(*most) ? ", " + share_text(*most) + " of " + limit_words(*most) : "") + ".";
}

}  // namespace

html time_section(const panel& p, page_builder& page) {
  if (p.boards.empty()) return {};
  const speed_unit unit = unit_of(p);
  json times = time_lines(p, page), rates = rate_lines(p, unit, page);
  if (!has_enough_points(times))
    return folded("Times of all variants", time_numbers(p)) +
           folded("Throughput of all variants", rate_numbers(p, unit));
  html pair = page.figure(
      {{"kind", "lines"}, {"x", axis_of(p)}, {"y", p.time_words()}, {"unit", "time"}, {"lines", std::move(times)}},
      "Time against size.", time_finding(p), time_numbers(p));
  pair += page.figure({{"kind", "lines"},
                       {"x", axis_of(p)},
                       {"y", unit_words(unit)},
                       {"unit", unit_name(unit)},
                       {"lines", std::move(rates)}},
                      "Throughput against size.", rate_finding(p, unit), rate_numbers(p, unit));
  return tag("h4", "Time and throughput") + tag("div", {{"class", "figures"}}, pair);
}

}  // namespace tilewise::report
