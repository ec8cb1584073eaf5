// SPDX-License-Identifier: Apache-2.0
#include "report/seeds/seeds.hpp"

#include "record/published.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>

namespace tilewise::report {

namespace {

using nlohmann::json;

/// One of our variants that repeats a program of the document on a device; if it was swept, its fastest row.
struct repeated {
  std::string label;
  std::vector<const row*> rows;  // by size; null: not measured
};

/// The document's times of one program on one machine.
struct quoted {
  std::string label;
  struct point {
    double n, ns;  // of the whole run
    std::string time;
  };
  std::vector<point> points;
};

double axis_place(const document_problem& p) { return static_cast<double>(p.rows.front()->n); }

/// In the order of the document's programs, all of them; of their second devices, which come behind, as many as a chart
/// may have lines.
std::vector<repeated> repeated_of(const document_study& s) {
  using key = std::pair<std::string, std::string>;  // variant, device
  std::vector<std::pair<key, repeated>> all;
  std::map<std::string, std::set<key>> of_system;
  std::map<key, std::size_t> places;
  const bool with_transfers = s.counts_transfers();
  for (std::size_t i = 0; i < s.sizes.size(); ++i)
    for (const row* r : s.sizes[i].rows) {
      const std::string system = system_of(*r);
      if (system.empty() || !counted_time(*r, with_transfers)) continue;
      const key at{r->variant, r->device};
      const auto [known, is_new] = places.try_emplace(at, all.size());
      if (is_new) all.push_back({at, {system, std::vector<const row*>(s.sizes.size())}});
      of_system[system].insert(at);
      const row*& best = all[known->second].second.rows[i];
      best = faster(best, r, with_transfers);
    }
  std::vector<repeated> first, later;
  std::set<std::string> seen;
  for (auto& [at, line] : all) {
    const bool is_first = seen.insert(line.label).second;
    if (of_system[line.label].size() > 1) line.label += " @" + clipped(at.second, page_limits::name);
    (is_first ? first : later).push_back(std::move(line));
  }
  for (repeated& line : later)
    if (first.size() + 1 < most_lines) first.push_back(std::move(line));
  return first;
}

/// The fastest of all our rows, whether they repeat a program or not.
repeated fastest_of(const document_study& s) {
  repeated best{"the fastest here", {}};
  for (const document_problem& p : s.sizes) {
    const row* found = nullptr;
    for (const row* r : p.rows)
      if (may_be_fastest(*r)) found = faster(found, r, s.counts_transfers());
    best.rows.push_back(found);
  }
  return best;
}

struct charted {
  interval y;
  bool is_sure;
};
using value_of = std::function<std::optional<charted>(const row&, const document_problem&)>;

json lines_of(const document_study& s, const std::vector<repeated>& drawn, const value_of& value, page_builder& page) {
  json lines = json::array();
  chart_colours colours(page);
  for (const repeated& line : drawn) {
    json points = json::array();
    for (std::size_t i = 0; i < s.sizes.size(); ++i)
      if (const row* r = line.rows[i])
        if (const auto y = value(*r, s.sizes[i]))
          points.push_back(chart_point(axis_place(s.sizes[i]), y->y, y->is_sure));
    if (!points.empty())
      lines.push_back(chart_line(line.label, role::tilewise, colours.of("documents", role::tilewise, line.label),
                                 std::move(points)));
  }
  return lines;
}

std::vector<std::vector<html>> cells_of(const document_study& s, const std::vector<repeated>& drawn,
                                        const value_of& value, std::string (*text)(double)) {
  std::vector<std::vector<html>> rows;
  for (const repeated& line : drawn) {
    auto& entries = rows.emplace_back(std::vector<html>{html::text(line.label)});
    for (std::size_t i = 0; i < s.sizes.size(); ++i) {
      const auto y = line.rows[i] ? value(*line.rows[i], s.sizes[i]) : std::nullopt;
      entries.push_back(html::text(y ? marked(y->is_sure, text(y->y.median)) : "–"));
    }
  }
  return rows;
}

std::vector<std::string> size_heads(const document_study& s, const char* first) {
  std::vector<std::string> heads = size_names(s);
  heads.insert(heads.begin(), first);
  return heads;
}

/// The curves of a chart, and the words around it.
struct curves {
  const char *y, *unit, *title;
  std::string finding;
  std::string (*text)(double);
};

html figure_of(const document_study& s, const std::vector<repeated>& drawn, const value_of& value, const curves& of,
               page_builder& page) {
  const json lines = lines_of(s, drawn, value, page);
  const html numbers = table(of.title, size_heads(s, "program"), cells_of(s, drawn, value, of.text), content::numbers);
  if (!has_enough_points(lines)) return {};
  return page.figure({{"kind", "lines"}, {"x", "n, the first size"}, {"y", of.y}, {"unit", of.unit}, {"lines", lines}},
                     of.title, of.finding, numbers);
}

interval scaled(const interval& value, double by) {
  interval of = value;
  of.median *= by;
  if (of.low) *of.low *= by;
  if (of.high) *of.high *= by;
  return of;
}

/// It is in doubt if the baseline's time is.
std::optional<charted> speedup_of(const row& r, const document_problem& p, bool with_transfers) {
  const row* base = p.baseline();
  const interval* time = counted_time(r, with_transfers);
  if (!base || !time) return std::nullopt;
  const double over = base->kernel->median;
  interval ratio{over / time->median, {}, {}};
  if (time->low && time->high) ratio.low = over / *time->high, ratio.high = over / *time->low;
  return charted{ratio, is_counted_sure(*base, false) && is_counted_sure(r, with_transfers)};
}

/// The document's times, by program and machine.
std::vector<quoted> quoted_of(const document_study& s) {
  std::vector<quoted> all;
  std::map<std::string, std::size_t> places;
  for (const document_problem& p : s.sizes)
    for (const quoted_table& t : quoted_tables(p))
      for (const quoted_time& q : t.rows) {
        const auto [at, is_new] = places.try_emplace(q.program + "\n" + q.as.machine, all.size());
        if (is_new) all.push_back({q.program, {}});
        all[at->second].points.push_back({axis_place(p), q.ns, q.time});
      }
  return all;
}

bool has_own_curves(const document_study& s) {
  const auto all = quoted_of(s);
  return std::any_of(all.begin(), all.end(), [](const quoted& q) { return q.points.size() >= 3; });
}

html quoted_figure(const document_study& s, page_builder& page) {
  const std::vector<quoted> all = quoted_of(s);
  json lines = json::array();
  chart_colours colours(page);
  std::vector<std::vector<html>> rows;
  for (const quoted& q : all) {
    json points = json::array();
    auto& entries = rows.emplace_back(std::vector<html>{html::text(q.label)});
    for (const auto& [n, ns, time] : q.points) {
      points.push_back(chart_point(n, {ns, {}, {}}, true));
      entries.push_back(html::text(time));
    }
    lines.push_back(chart_line(q.label, role::peer, colours.of("documents", role::peer, q.label), std::move(points)));
  }
  if (!has_enough_points(lines)) return {};
  return page.figure({{"kind", "lines"},
                      {"x", "n, the first size"},
                      {"y", "time of the whole run"},
                      {"unit", "time"},
                      {"lines", lines}},
                     "As published.", "The document’s own times, on its own machine.",
                     table("As published.", size_heads(s, "program"), rows));
}

/// Bars with the speedups over the baseline at one size: ours, and the document's over its own baseline.
html speedup_bars(const document_study& s, std::size_t i, const std::vector<repeated>& drawn, page_builder& page) {
  const document_problem& p = s.sizes[i];
  json bars = json::array();
  std::vector<std::vector<html>> rows;
  bool is_beside = false;  // whether the document has speedups
  const auto add = [&](const std::string& label, role kind, double value, bool is_sure) {
    json bar = chart_line(label, kind, chart_colours(page).of("documents", kind, label), nullptr);
    bar["value"] = value;
    bar["note"] = kind == role::peer ? "published" : "";
    bar["hollow"] = !is_sure;
    bars.push_back(std::move(bar));
    rows.push_back({html::text(label), html::text(marked(is_sure, factor(value)))});
  };
  for (const repeated& line : drawn)
    if (const row* r = line.rows[i])
      if (const auto ratio = speedup_of(*r, p, s.counts_transfers()))
        add(line.label, role::tilewise, ratio->y.median, ratio->is_sure);
  if (bars.size() < 2) return {};
  const row* base = p.baseline();
  for (const record::published_time& time : p.published()) {
    const auto ratio = published_speedup(p, time);
    if (!ratio || *ratio == 1) continue;  // the baseline itself
    const record::published_row* known = record::find_published(p.from->document, p.rows.front()->shape, time);
    add(known ? std::string(known->program) : time.system, role::peer, *ratio, true);
    is_beside = true;
  }
  return page.figure({{"kind", "bars"}, {"x", "speedup"}, {"unit", "ratio"}, {"bars", std::move(bars)}},
                     "Speedups at " + p.rows.front()->at() + ".",
                     "Ours over " + name_with_place(*base) +
                         (is_beside ? "; the document’s, hatched, over its own baseline on the same machine." : "."),
                     table("Speedups.", {"program", "speedup"}, rows));
}

bool is_number(const std::string& word) {
  return !word.empty() && word.size() < 10 && word.find_first_not_of("0123456789") == word.npos;
}

/// The name of the tuning that was swept: the one with the most different numbers. Empty if none has three.
std::string swept_axis(const std::vector<const row*>& rows) {
  std::map<std::string, std::set<std::string>> values;
  for (const row* r : rows)
    for (const auto& [name, word] : tuning_parts(r->tuning))
      if (is_number(word)) values[name].insert(word);
  std::string best;
  for (const auto& [name, words] : values)
    if (words.size() >= 3 && (best.empty() || words.size() > values[best].size())) best = name;
  return best;
}

/// One variant's sweep at one size.
html sweep_of(const std::string& variant, const std::vector<const row*>& rows, bool names_hardware,
              page_builder& page) {
  const std::string axis = swept_axis(rows);
  if (axis.empty()) return {};
  std::map<std::string, std::map<std::uint64_t, const row*>> lines;
  for (const row* r : rows) {
    std::string label =
        (names_hardware ? clipped(r->hardware.description, page_limits::name) + " as " : "") + place_of(*r);
    std::uint64_t x = 0;
    for (const auto& [name, word] : tuning_parts(r->tuning)) {
      if (name != axis) label += ", " + name + " " + word;
      if (name == axis && is_number(word)) x = std::stoull(word);
    }
    if (x > 0 && r->timed()) lines[label][x] = r;
  }
  json drawn = json::array();
  chart_colours colours(page);
  std::vector<std::vector<html>> entries;
  const row* best = nullptr;
  for (const auto& [label, points] : lines) {
    json values = json::array();
    for (const auto& [x, r] : points) {
      values.push_back(chart_point(static_cast<double>(x), *r->kernel, r->ranked()));
      entries.push_back(
          {html::text(label), html::text(count(x)), html::text(marked_time(*r)), html::text(transfers_text(*r))});
      best = faster(best, r, false);
    }
    if (drawn.size() < most_lines)
      drawn.push_back(
          chart_line(label, role::tilewise, colours.of("documents", role::tilewise, label), std::move(values)));
  }
  if (!best || !has_enough_points(drawn)) return {};
  const std::string name = short_name(variant);
  return page.figure({{"kind", "lines"},
                      {"x", axis},
                      {"y", "kernel time"},
                      {"unit", "time"},
                      {"counts", axis},
                      {"marks", "points"},
                      {"lines", drawn}},
                     name + " against " + axis + ", " + best->at() + ".",
                     "The shortest is " + duration(best->kernel->median) + " with " + best->tuning + " on " +
                         (names_hardware ? clipped(best->hardware.description, page_limits::name) : place_of(*best)) +
                         ".",
                     table("Each tuning.", {"device and way", axis, "time", "with transfers"}, entries));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> tuning_parts(const std::string& tuning) {
  std::vector<std::pair<std::string, std::string>> parts;
  std::istringstream words(tuning);
  for (std::string word; words >> word;)
    if (const std::size_t middle = word.find('='); middle != word.npos)
      parts.emplace_back(word.substr(0, middle), word.substr(middle + 1));
  return parts;
}

html study_charts(const document_study& s, page_builder& page) {
  const bool with_transfers = s.counts_transfers();
  std::vector<repeated> drawn = repeated_of(s);
  if (drawn.empty()) return {};
  drawn.push_back(fastest_of(s));
  const value_of time = [&](const row& r, const document_problem& p) -> std::optional<charted> {
    const interval* counted = counted_time(r, with_transfers);
    if (!counted) return std::nullopt;
    return charted{scaled(*counted, p.times_in_run()), is_counted_sure(r, with_transfers)};
  };
  const value_of speedup = [&](const row& r, const document_problem& p) { return speedup_of(r, p, with_transfers); };
  const row* base = s.has_own_speedups() ? s.sizes.back().baseline() : nullptr;
  const std::string clock = with_transfers ? "A device’s times include its transfers, as the document’s do." : "";
  html figures = figure_of(s, drawn, time, {"time", "time", "Measured here: time.", clock, duration}, page);
  if (base)
    figures += figure_of(
        s, drawn, speedup,
        {"speedup", "ratio", "Measured here: speedup.", "Over " + name_with_place(*base) + ".", factor}, page);
  if (has_own_curves(s)) return figures + quoted_figure(s, page);
  for (std::size_t i = 0; base && i < s.sizes.size(); ++i)
    if (!s.sizes[i].published().empty() || figures.empty()) figures += speedup_bars(s, i, drawn, page);
  return figures;
}

html sweep_charts(const std::vector<const document_study*>& of_machines, page_builder& page) {
  html figures;
  for (const document_problem& p : of_machines.front()->sizes) {
    std::map<std::string, std::vector<const row*>> of_variant;
    for (const document_study* s : of_machines)
      for (const document_problem& same : s->sizes)
        for (const row* r : same.rows)
          if (same.name == p.name) of_variant[r->variant].push_back(r);
    for (const auto& [variant, rows] : of_variant) figures += sweep_of(variant, rows, of_machines.size() > 1, page);
  }
  return figures;
}

}  // namespace tilewise::report
