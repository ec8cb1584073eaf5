// SPDX-License-Identifier: Apache-2.0
// Time and throughput against n: a chart of each with the fastest of every device and the best peers, and all others in
// the tables below them.
#include "base/printable.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tilewise::report {

namespace {

using nlohmann::json;

/// A series that is drawn, the `index`-th of its role.
struct leader {
  const board* on;
  const series* what;
  std::size_t index = 0;
};

/// The fastest of each device, or of each board's peers, at the largest size; then the next of each, by time. Only one
/// of ours stands for a device.
std::vector<leader> leaders(const panel& p, role kind, std::size_t most) {
  using place = std::tuple<std::size_t, double>;  // in its device, and its time
  std::vector<std::pair<place, leader>> found;
  for (const board& b : p.boards) {
    std::map<std::string_view, std::vector<std::pair<double, const series*>>> of_device;
    for (const series& s : b.all) {
      const row* r = s.kind == kind ? s.at(b.largest_size()) : nullptr;
      const std::string_view device = kind == role::tilewise ? std::string_view(s.device) : "";
      if (r && r->timed()) of_device[device].emplace_back(r->kernel->median, &s);
    }
    for (auto& [device, all] : of_device) {
      std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
      if (kind == role::tilewise) all.resize(1);
      for (std::size_t i = 0; i < all.size(); ++i) found.push_back({{i, all[i].first}, {&b, all[i].second}});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<leader> kept;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) {
    kept.push_back(found[i].second);
    kept.back().index = i;
  }
  return kept;
}

std::vector<leader> operator+(std::vector<leader> left, const std::vector<leader>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// With its processor where another has a series of this name.
std::string name_of(const panel& p, const board& on, const series& s) {
  const auto has_it = [&](const board& b) {
    return &b != &on && std::any_of(b.all.begin(), b.all.end(), [&](const series& x) { return x.label == s.label; });
  };
  return std::any_of(p.boards.begin(), p.boards.end(), has_it) ? s.label + " on " + on.name : s.label;
}

json time_lines(const panel& p) {
  json lines = json::array();
  for (const leader& l : leaders(p, role::tilewise, 4) + leaders(p, role::peer, 3) + leaders(p, role::serial, 1)) {
    json points = json::array();
    for (const row* r : l.what->measured())
      points.push_back(chart_point(static_cast<double>(r->n), *r->kernel, r->ranked()));
    lines.push_back(chart_line(name_of(p, *l.on, *l.what), l.what->kind, l.index, std::move(points)));
  }
  return lines;
}

json rate_lines(const panel& p, speed_unit unit) {
  json lines = json::array();
  for (const leader& l : leaders(p, role::tilewise, 3) + leaders(p, role::peer, 2) + leaders(p, role::limit, 3)) {
    json points = json::array();
    for (const row* r : l.what->measured())
      if (const auto y = r->throughput(unit))
        points.push_back(chart_point(static_cast<double>(r->n), {*y, {}, {}}, r->ranked()));
    lines.push_back(chart_line(name_of(p, *l.on, *l.what), l.what->kind, l.index, std::move(points)));
  }
  return lines;
}

/// The definition's digest at `n`, as given by the rows of a panel.
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
  std::string text = r->ranked() ? "" : "? ";
  text += duration(r->kernel->median);
  if (const auto spread = r->kernel->spread()) text += " ± " + percent(*spread);
  if (!r->plausible) text += ", implausible";
  return html::text(text) + bits_mark(*r, reference);
}

html rate_cell(const row* r, speed_unit unit) {
  if (!r || !r->timed() || !r->throughput(unit)) return "–";
  std::string text = (r->ranked() ? "" : "? ") + throughput_text(*r->throughput(unit), unit, r->dtype);
  if (r->fraction && !r->is_limit()) text += ", " + share_text(*r) + " of " + std::string(name_of(*r->bound_by));
  return html::text(text);
}

/// A line for each series, a column for each size.
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
  return numbers(p, "Throughput, " + std::string(unit_words(unit)) + ", and its share of the limit.", {},
                 [&](const row* r) { return rate_cell(r, unit); });
}

/// All boards of a panel have one.
speed_unit unit_of(const panel& p) {
  for (const board& b : p.boards)
    if (b.unit() != b.speed_in) return speed_unit::elements;
  return p.boards.front().speed_in;
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
         throughput_text(*most->throughput(unit), unit, p.dtype) +
         (most->fraction ? ", " + share_text(*most) + " of " + limit_words(*most) : "") + ".";
}

}  // namespace

html time_section(const panel& p, page_builder& page) {
  if (p.boards.empty()) return {};
  const speed_unit unit = unit_of(p);
  json times = time_lines(p), rates = rate_lines(p, unit);
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
