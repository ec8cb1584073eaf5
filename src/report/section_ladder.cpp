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

/// Slowest first. The limit is placed above all that it bounds: code with its own order may compute on a faster unit.
std::vector<rung> rungs_of(const panel& p, const board& b, std::uint64_t n) {
  std::vector<rung> rungs = fastest_of_each(p, b, n);
  const bool is_of_operations = b.unit() == speed_unit::operations;
  double bound = 0;
  for (const rung& r : rungs)
    if (!is_of_operations || !r.at->own_order) bound = std::max(bound, r.speed);
  const auto place = [&](const rung& r) {
    return std::pair(r.what->kind == role::limit ? bound : r.speed, r.what->kind == role::limit);
  };
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

std::string finding(const std::vector<rung>& rungs) {
  const rung *ours = last_of(rungs, role::tilewise), *serial = last_of(rungs, role::serial);
  if (!ours) return "No time of ours can be trusted here.";
  std::string text;
  if (serial)
    text = "From " + serial->what->label + " to " + ours->what->label + ": " + factor(ours->speed / serial->speed) +
           " times as fast";
  else
    text = "The fastest of ours is " + ours->what->label;
  if (const rung* limit = last_of(rungs, role::limit))
    text += (limit->at->is_arithmetic() ? "; multiply-adds alone are " : "; the plain copy moves its bytes ") +
            factor(limit->speed / ours->speed) + " times as fast";
  return text + ".";
}

html numbers(const std::vector<rung>& rungs, speed_unit unit) {
  const rung* serial = last_of(rungs, role::serial);
  const auto openmp =
      std::find_if(rungs.begin(), rungs.end(), [](const rung& r) { return r.at->device == "cpu:openmp"; });
  std::vector<std::vector<html>> rows;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const rung& r = rungs[i];
    const std::string mark = r.at->ranked() ? "" : "? ";
    rows.push_back({html::text(r.what->label), html::text(mark + duration(r.at->kernel->median)),
                    html::text(throughput_text(r.speed, unit, r.at->dtype)), html::text(step(rungs, i)),
                    html::text(serial ? factor(r.speed / serial->speed) : "–"),
                    html::text(openmp != rungs.end() ? factor(r.speed / openmp->speed) : "–"),
                    html::text(r.at->doubt())});
  }
  return table("Each rung, slowest first.",
               {"rung", "time", "throughput", "step", "over the definition", "over OpenMP", "in doubt"}, rows);
}

html figure_of(const panel& p, const board& b, page_builder& page) {
  const std::vector<rung> rungs = rungs_of(p, b, b.common_size());
  if (rungs.size() < 2) return {};
  const speed_unit unit = b.unit();
  json bars = json::array();
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const rung& r = rungs[i];
    json bar = chart_line(r.what->label, r.what->kind, 0, nullptr);
    bar["value"] = r.speed;
    bar["note"] = (r.at->ranked() ? "" : "in doubt   ") + step(rungs, i);
    bars.push_back(std::move(bar));
  }
  const std::string hardware = b.title.empty() || b.title == b.name ? "" : " (" + b.title + ")";
  return page.figure({{"kind", "bars"}, {"x", unit_words(unit)}, {"unit", unit_name(unit)}, {"bars", std::move(bars)}},
                     b.name + hardware + ", " + rungs.front().at->at() + ".", finding(rungs), numbers(rungs, unit));
}

}  // namespace

html ladder_section(const panel& p, page_builder& page) {
  html figures;
  for (const board* b : p.processors()) figures += figure_of(p, *b, page);
  if (figures.empty()) return {};
  return tag("h4", "The ladder") + tag("div", {{"class", "figures"}}, figures);
}

}  // namespace tilewise::report
