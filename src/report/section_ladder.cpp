// The ladder: from the serial code through each variant to other people's code and the copy, each step with its factor.
#include "report/format.hpp"
#include "report/sections.hpp"

#include <algorithm>

namespace tilewise::report {

namespace {

using nlohmann::json;

struct rung {
  const series* what;
  const row* at;
  int colour;
  double speed;  // throughput in the board's unit, so that the copy bounds it
};

/// Slowest first. The limit is placed above all that it bounds: code with its own order may compute on a faster unit.
std::vector<rung> rungs_of(const panel& p, const board& b, std::uint64_t n) {
  std::vector<rung> rungs;
  const speed_unit unit = b.unit();
  const auto add = [&](const series& s, int colour) {
    const row* r = s.at(n);
    const auto speed = r && r->ranked() ? r->throughput(unit) : std::nullopt;
    if (speed) rungs.push_back({&s, r, colour, *speed});
  };
  for (const series& s : b.all) add(s, colour_of(b, s));
  if (p.serial() && !b.is_cpu) add(*p.serial(), 0);
  const auto is_bound = [&](const rung& r) { return unit != speed_unit::operations || !r.at->own_order; };
  double bound = 0;
  for (const rung& r : rungs)
    if (is_bound(r)) bound = std::max(bound, r.speed);
  const auto place = [&](const rung& r) {
    return std::pair(r.what->kind == role::limit ? bound : r.speed, r.what->kind == role::limit);
  };
  std::stable_sort(rungs.begin(), rungs.end(), [&](const rung& x, const rung& y) { return place(x) < place(y); });
  return rungs;
}

std::string step(const std::vector<rung>& rungs, std::size_t i) {
  return i == 0 ? "" : "× " + factor(rungs[i].speed / rungs[i - 1].speed);
}

std::string finding(const std::vector<rung>& rungs) {
  if (rungs.size() < 2) return "Only one rung.";
  const auto ours =
      std::find_if(rungs.rbegin(), rungs.rend(), [](const rung& r) { return r.what->kind == role::tilewise; });
  if (ours == rungs.rend()) return "None of our variants was measured here.";
  const auto serial =
      std::find_if(rungs.begin(), rungs.end(), [](const rung& r) { return r.what->kind == role::serial; });
  const rung& from = serial == rungs.end() ? rungs.front() : *serial;
  std::string text = "From " + from.what->label + " to " + ours->what->label + ": " + factor(ours->speed / from.speed) +
                     " times as fast";
  const auto limit =
      std::find_if(rungs.begin(), rungs.end(), [](const rung& r) { return r.what->kind == role::limit; });
  if (limit != rungs.end())
    text += (limit->at->is_fma() ? "; multiply-adds alone are " : "; the plain copy moves its bytes ") +
            factor(limit->speed / ours->speed) + " times as fast";
  return text + ".";
}

}  // namespace

html ladder_section(const panel& p, page_builder& page) {
  html figures;
  for (const board& b : p.boards) {
    const std::uint64_t n = b.common_size();
    const std::vector<rung> rungs = rungs_of(p, b, n);
    if (rungs.empty()) continue;
    const speed_unit unit = b.unit();
    json bars = json::array();
    std::vector<std::vector<html>> rows;
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      const rung& r = rungs[i];
      json bar = chart_line(*r.what, r.colour, nullptr);
      bar["value"] = r.speed;
      bar["note"] = step(rungs, i);
      bars.push_back(std::move(bar));
      rows.push_back({html::text(r.what->label), html::text(duration(r.at->kernel->median)),
                      html::text(throughput_text(r.speed, unit)), html::text(step(rungs, i)),
                      html::text(factor(r.speed / rungs.front().speed))});
    }
    figures +=
        page.figure({{"kind", "bars"}, {"x", unit_words(unit)}, {"unit", unit_name(unit)}, {"bars", std::move(bars)}},
                    b.name + ", " + rungs.front().at->at(), finding(rungs),
                    table({"rung", "time", "throughput", "step", "over the first"}, rows));
  }
  if (figures.empty()) return {};
  return tag("h4", "The ladder") +
         paragraph(
             "Throughput at the largest size that all share, slowest first; beside each bar is its factor over "
             "the bar above it. Hatched: other people's code. Outlined: the limit, which is the device's plain copy or "
             "its multiply-adds.") +
         tag("div", {{"class", "figures"}}, figures);
}

}  // namespace tilewise::report
