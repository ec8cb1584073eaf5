// SPDX-License-Identifier: Apache-2.0
// The ladder: from the serial code through each variant to peers and the limit, with a factor for each step.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"

#include <algorithm>
#include <map>

namespace tilewise::report {

namespace {

using nlohmann::json;

/// A step of the ladder. For the limit, `at` is the row whose limit it is.
struct rung {
  std::string label;
  role kind;
  const row* at;
  bool is_bounded;  // by the limit, which is above it
  double ns, speed;
};

/// Each variant once. If several executors or tunings ran it, the fastest of them.
std::vector<rung> fastest_of_each(const panel& p, const board& b, std::uint64_t n) {
  std::vector<rung> rungs;
  std::map<std::string_view, std::size_t> known;
  const auto comes_before = [](const row& r, const rung& held) {
    if (r.is_surely_shorter(*held.at) || held.at->is_surely_shorter(r)) return r.is_surely_shorter(*held.at);
    return std::pair(r.ranked(), -r.kernel->median) > std::pair(held.at->ranked(), -held.ns);
  };
  const auto add = [&](const series& s) {
    const row* r = s.kind == role::limit ? nullptr : s.at(n);
    const auto speed = r && r->timed() ? r->throughput(b.unit()) : std::nullopt;
    if (!speed) return;
    const auto [at, is_new] = known.emplace(s.variant, rungs.size());
    const rung here{s.label, s.kind, r, s.competes(), r->kernel->median, *speed};
    if (is_new)
      rungs.push_back(here);
    else if (comes_before(*r, rungs[at->second]))
      rungs[at->second] = here;
  };
  for (const series& s : b.all) add(s);
  if (p.serial() && !b.is_cpu) add(*p.serial());
  return rungs;
}

/// The steps, slowest first. The limit is the one of our fastest row, placed above all rows that it bounds.
std::vector<rung> rungs_of(const panel& p, const board& b, std::uint64_t n) {
  std::vector<rung> rungs = fastest_of_each(p, b, n);
  std::stable_sort(rungs.begin(), rungs.end(), [](const rung& x, const rung& y) { return x.speed < y.speed; });
  const series* best = b.fastest_shown(role::tilewise, n);
  const row* ours = best ? best->at(n) : nullptr;
  const std::optional<double> most = ours ? speed_at_limit(*ours, b.unit()) : std::nullopt;
  if (!most) return rungs;
  const rung limit{std::string(name_of(*ours->bound_by)),  role::limit, ours, false,
                   *ours->fraction * ours->kernel->median, *most};
  auto place = rungs.end();
  while (place != rungs.begin() && !std::prev(place)->is_bounded && std::prev(place)->speed > limit.speed) --place;
  rungs.insert(place, limit);
  return rungs;
}

bool is_sure(const rung& r) { return r.kind == role::limit ? r.at->has_sure_limit : r.at->ranked(); }

/// The speedup over a step below it, after a sign.
std::string factor_over(const rung& below, const rung& r, const std::string& sign = "") {
  return marked(is_sure(below) && is_sure(r), sign + factor(r.speed / below.speed));
}

std::string step(const std::vector<rung>& rungs, std::size_t i) {
  return i == 0 ? "" : factor_over(rungs[i - 1], rungs[i], "× ");
}

const rung* serial_of(const std::vector<rung>& rungs) {
  const auto found = std::find_if(rungs.begin(), rungs.end(), [](const rung& r) { return r.kind == role::serial; });
  return found == rungs.end() ? nullptr : &*found;
}

/// Names variants with which the fastest could not be compared: "; without cpu:ntt, which has no time at this size".
std::string without(const board& b, const std::vector<rung>& rungs) {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> missing;
  for (const series& s : b.all) {
    const std::string name = short_name(s.variant);
    const auto is_it = [&](const rung& r) { return r.at->variant == s.variant; };
    if (s.kind == role::tilewise && s.competes() && std::none_of(rungs.begin(), rungs.end(), is_it) &&
        std::find(missing.begin(), missing.end(), name) == missing.end())
      missing.push_back(name);
  }
  if (missing.empty()) return "";
  return "; without " + listed(missing, most_named) + ", which " + (missing.size() == 1 ? "has" : "have") +
         " no time at this size";
}

/// Whether a faster step of ours rounds its operands, so that this row is the fastest only of the others.
bool is_behind_a_rounding_one(const std::vector<rung>& rungs, const row& ours) {
  return std::any_of(rungs.begin(), rungs.end(), [&](const rung& r) {
    return r.kind == role::tilewise && is_less_exact(*r.at) && r.ns < ours.kernel->median;
  });
}

std::string finding(const board& b, const std::vector<rung>& rungs, std::uint64_t n) {
  const series* best = b.fastest(role::tilewise, n);
  if (!best) return "No time of ours can be trusted here.";
  const row& ours = *best->at(n);
  const rung* serial = serial_of(rungs);
  std::string text;
  if (serial)
    text = "From " + serial->label + " to " + best->label + ": " +
           marked(serial->at->ranked() && ours.ranked(), factor(serial->ns / ours.kernel->median)) + " times as fast";
  else
    text = "The fastest of ours " +
           std::string(is_behind_a_rounding_one(rungs, ours) ? "that rounds no operands " : "") + "is " + best->label +
           (ours.ranked() ? "" : ", whatever its time, which is in doubt");
  if (shows_share(ours) && !does_less_than_counted(ours)) text += ", " + share_text(ours) + " of " + limit_words(ours);
  return text + without(b, rungs) + ".";
}

/// A remark beside the step's speed. For an arithmetic limit it is the speed in its own unit, if the other steps have
/// another unit.
std::string remark_of(const rung& r, speed_unit unit) {
  if (r.kind != role::limit) return is_less_exact(*r.at) ? "rounds its operands" : "";
  if (!record::is_arithmetic(*r.at->bound_by) || unit == speed_unit::operations) return "";
  return operation_rate(r.at->operations / r.ns * 1e9, r.at->dtype);
}

html numbers(const std::vector<rung>& rungs, speed_unit unit) {
  const rung* serial = serial_of(rungs);
  std::vector<std::vector<html>> rows;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const rung& r = rungs[i];
    const std::string doubt = r.kind == role::limit ? "" : r.at->doubt();
    rows.push_back({html::text(r.label), html::text(marked(is_sure(r), duration(r.ns))),
                    html::text(marked(is_sure(r), throughput_text(r.speed, unit, r.at->dtype))),
                    html::text(step(rungs, i)), html::text(serial ? factor_over(*serial, r) : "–"),
                    html::text(doubt.empty() ? remark_of(r, unit) : doubt)});
  }
  return table("Each rung, slowest first.", {"rung", "time", "throughput", "step", "over the definition", "remark"},
               rows);
}

html figure_of(const panel& p, const board& b, page_builder& page) {
  const std::uint64_t n = b.common_size();
  const std::vector<rung> rungs = rungs_of(p, b, n);
  if (rungs.empty()) return {};
  const std::string where =
      b.name + (b.title.empty() || b.title == b.name ? "" : " (" + b.title + ")") + ", " + rungs.front().at->at() + ".";
  if (rungs.size() < 2)
    return tag("div", paragraph(where + " Nothing else than " + rungs.front().label + " has a time."));
  const speed_unit unit = b.unit();
  json bars = json::array();
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const rung& r = rungs[i];
    json bar = chart_line(r.label, r.kind, r.kind == role::limit ? 0 : chart_colours(page).of(*r.at), nullptr);
    const std::string remark = remark_of(r, unit);
    bar["value"] = r.speed;
    bar["hollow"] = !is_sure(r);
    bar["note"] = step(rungs, i) + (remark.empty() ? "" : "   " + remark);
    bars.push_back(std::move(bar));
  }
  return page.figure({{"kind", "bars"}, {"x", unit_words(unit)}, {"unit", unit_name(unit)}, {"bars", std::move(bars)}},
                     where, finding(b, rungs, n), numbers(rungs, unit));
}

}  // namespace

html ladder_section(const panel& p, page_builder& page) {
  html figures;
  for (const board* b : p.processors()) figures += figure_of(p, *b, page);
  if (figures.empty()) return {};
  return tag("h4", "The ladder") + tag("div", {{"class", "figures"}}, figures);
}

}  // namespace tilewise::report
