// SPDX-License-Identifier: Apache-2.0
// The ladder: from the serial code through each variant to other people's code and the limit, each step with its
// factor.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <map>

namespace tilewise::report {

namespace {

using nlohmann::json;

struct rung {
  const series* what;
  const row* at;
  double speed;  // throughput in the board's unit, so that the limit bounds it
};

/// Each variant once, where several executors or tunings ran it: as the fastest of them.
std::vector<rung> fastest_of_each(const panel& p, const board& b, std::uint64_t n) {
  std::vector<rung> rungs;
  std::map<std::string_view, std::size_t> known;
  const speed_unit unit = b.unit();
  const auto add = [&](const series& s) {
    const row* r = s.at(n);
    const auto speed = r && r->timed() ? r->throughput(unit) : std::nullopt;
    if (!speed) return;
    const auto [at, is_new] = known.emplace(s.variant, rungs.size());
    const rung here{&s, r, *speed};
    if (is_new) rungs.push_back(here);
    rung& held = rungs[at->second];
    if (std::pair(r->ranked(), *speed) > std::pair(held.at->ranked(), held.speed)) held = here;
  };
  for (const series& s : b.all) add(s);
  if (p.serial() && !b.is_cpu) add(*p.serial());
  return rungs;
}

/// Whether a limit bounds a rung: code with its own order may compute on a faster unit, and multiply-adds bound only
/// what is held against them.
bool bounds(const rung& limit, const rung& r, speed_unit unit) {
  if (!limit.at->is_arithmetic()) return true;
  return (unit != speed_unit::operations || !r.at->own_order) && r.at->bound_by &&
         record::is_arithmetic(*r.at->bound_by);
}

/// Slowest first. A limit is placed above all that it bounds.
std::vector<rung> rungs_of(const panel& p, const board& b, std::uint64_t n) {
  std::vector<rung> rungs = fastest_of_each(p, b, n);
  std::map<const series*, double> places;
  for (const rung& r : rungs) {
    double& place = places[r.what] = r.speed;
    for (const rung& other : rungs)
      if (r.what->kind == role::limit && other.what->kind != role::limit && bounds(r, other, b.unit()))
        place = std::max(place, other.speed);
  }
  const auto place = [&](const rung& r) { return std::pair(places.at(r.what), r.what->kind == role::limit); };
  std::stable_sort(rungs.begin(), rungs.end(), [&](const rung& x, const rung& y) { return place(x) < place(y); });
  return rungs;
}

std::string step(const std::vector<rung>& rungs, std::size_t i) {
  return i == 0 ? "" : "× " + factor(rungs[i].speed / rungs[i - 1].speed);
}

const rung* last_of(const std::vector<rung>& rungs, role kind) {
  const auto found = std::find_if(rungs.rbegin(), rungs.rend(), [&](const rung& r) {
    return r.what->kind == kind && (kind != role::tilewise || (r.at->ranked() && r.what->competes()));
  });
  return found == rungs.rend() ? nullptr : &*found;
}

/// "; without cpu:ntt, which has no time at this size": what is called the fastest was not compared with that.
std::string without(const board& b, const std::vector<rung>& rungs) {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> missing;
  for (const series& s : b.all) {
    const std::string name = short_name(s.variant);
    const auto is_it = [&](const rung& r) { return r.what->variant == s.variant; };
    if (s.kind == role::tilewise && s.competes() && std::none_of(rungs.begin(), rungs.end(), is_it) &&
        std::find(missing.begin(), missing.end(), name) == missing.end())
      missing.push_back(name);
  }
  if (missing.empty()) return "";
  return "; without " + listed(missing, most_named) + ", which " + (missing.size() == 1 ? "has" : "have") +
         " no time at this size";
}

std::string finding(const board& b, const std::vector<rung>& rungs) {
  const rung *ours = last_of(rungs, role::tilewise), *serial = last_of(rungs, role::serial);
  if (!ours) return "No time of ours can be trusted here.";
  std::string text;
  if (serial)
    text = "From " + serial->what->label + " to " + ours->what->label + ": " + factor(ours->speed / serial->speed) +
           " times as fast";
  else
    text = "The fastest of ours is " + ours->what->label;
  const auto limit = std::find_if(rungs.rbegin(), rungs.rend(), [&](const rung& r) {
    return r.what->kind == role::limit && bounds(r, *ours, b.unit());
  });
  if (limit != rungs.rend())
    text += (limit->at->is_arithmetic() ? "; multiply-adds alone are " : "; the plain copy moves its bytes ") +
            factor(limit->speed / ours->speed) + " times as fast";
  return text + without(b, rungs) + ".";
}

html numbers(const std::vector<rung>& rungs, speed_unit unit) {
  const rung* serial = last_of(rungs, role::serial);
  std::vector<std::vector<html>> rows;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const rung& r = rungs[i];
    const std::string mark = r.at->ranked() ? "" : "? ";
    rows.push_back({html::text(r.what->label), html::text(mark + duration(r.at->kernel->median)),
                    html::text(throughput_text(r.speed, unit, r.at->dtype)), html::text(step(rungs, i)),
                    html::text(serial ? factor(r.speed / serial->speed) : "–"), html::text(r.at->doubt())});
  }
  return table("Each rung, slowest first.", {"rung", "time", "throughput", "step", "over the definition", "in doubt"},
               rows);
}

html figure_of(const panel& p, const board& b, page_builder& page) {
  const std::vector<rung> rungs = rungs_of(p, b, b.common_size());
  if (rungs.size() < 2) return {};
  const speed_unit unit = b.unit();
  json bars = json::array();
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const rung& r = rungs[i];
    json bar = chart_line(r.what->label, r.what->kind, chart_colours(page).of(*r.at), nullptr);
    bar["value"] = r.speed;
    bar["note"] = (r.at->ranked() ? "" : "in doubt   ") + step(rungs, i);
    bars.push_back(std::move(bar));
  }
  const std::string hardware = b.title.empty() || b.title == b.name ? "" : " (" + b.title + ")";
  return page.figure({{"kind", "bars"}, {"x", unit_words(unit)}, {"unit", unit_name(unit)}, {"bars", std::move(bars)}},
                     b.name + hardware + ", " + rungs.front().at->at() + ".", finding(b, rungs), numbers(rungs, unit));
}

}  // namespace

html ladder_section(const panel& p, page_builder& page) {
  html figures;
  for (const board* b : p.processors()) figures += figure_of(p, *b, page);
  if (figures.empty()) return {};
  return tag("h4", "The ladder") + tag("div", {{"class", "figures"}}, figures);
}

}  // namespace tilewise::report
