// Time and throughput against n: a pair of charts for each processor.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

namespace tilewise::report {

namespace {

using nlohmann::json;

html time_cell(const row* r) {
  if (!r || !r->timed()) return r && r->wrong() ? tag("strong", {{"class", "wrong"}}, "WRONG") : html("–");
  std::string text = duration(r->kernel->median);
  if (r->kernel->low && r->kernel->high)
    text += " ± " + percent((*r->kernel->high - *r->kernel->low) / 2 / r->kernel->median);
  return html::text(text + (r->plausible ? "" : ", implausible"));
}

html rate_cell(const row* r, speed_unit unit) {
  if (!r || !r->timed() || !r->throughput(unit)) return "–";
  const double value = *r->throughput(unit);
  std::string text = throughput_text(value, unit);
  if (r->fraction && r->bound_by && !r->is_limit())
    text += ", " + (*r->fraction < 0.01 ? "< 0.01" : significant(*r->fraction, 2)) + " of " +
            std::string(name_of(*r->bound_by));
  return html::text(text);
}

template <class Cell>
html numbers(const board& b, const Cell& cell) {
  std::vector<std::string> heads{"n"};
  for (const series& s : b.all) heads.push_back(s.label);
  std::vector<std::vector<html>> rows;
  for (const std::uint64_t n : b.sizes()) {
    auto& line = rows.emplace_back(std::vector<html>{html::text(b.size_at(n))});
    for (const series& s : b.all) line.push_back(cell(s.at(n)));
  }
  return table(heads, rows);
}

json time_chart(const panel& p, const board& b) {
  json lines = json::array();
  const auto add = [&](const series& s) {
    json points = json::array();
    for (const row* r : s.measured())
      points.push_back(chart_point(static_cast<double>(r->n), *r->kernel, r->plausible));
    lines.push_back(chart_line(s, colour_of(b, s), std::move(points)));
  };
  if (p.serial() && !b.is_cpu) add(*p.serial());
  for (const series& s : b.all)
    if (!s.does_fixed_work()) add(s);
  return {{"kind", "lines"}, {"x", axis_of(p)}, {"y", p.time_words()}, {"unit", "time"}, {"lines", std::move(lines)}};
}

json rate_chart(const panel& p, const board& b) {
  const speed_unit unit = b.unit();
  json lines = json::array();
  for (const series& s : b.all) {
    json points = json::array();
    for (const row* r : s.measured())
      if (const auto y = r->throughput(unit))
        points.push_back(chart_point(static_cast<double>(r->n), {*y, {}, {}}, r->plausible));
    lines.push_back(chart_line(s, colour_of(b, s), std::move(points)));
  }
  return {{"kind", "lines"},
          {"x", axis_of(p)},
          {"y", unit_words(unit)},
          {"unit", unit_name(unit)},
          {"lines", std::move(lines)}};
}

std::string time_finding(const board& b) {
  const std::uint64_t n = b.common_size();
  const series* best = b.fastest(role::tilewise, n);
  if (!best) return "None of our variants has a time.";
  std::string text = "At " + best->at(n)->at() + " our fastest variant is " + best->label + " with " +
                     duration(best->at(n)->kernel->median);
  if (const series* peer = b.fastest(role::peer, n))
    text += "; " + peer->label + " takes " + duration(peer->at(n)->kernel->median);
  const std::string changes = crossings(b);
  return text + "." + (changes.empty() ? "" : " Among ours, " + changes);
}

std::string rate_finding(const board& b) {
  const speed_unit unit = b.unit();
  const std::uint64_t n = b.common_size();
  const series* best = b.fastest(role::tilewise, n);
  const auto value = best ? best->at(n)->throughput(unit) : std::nullopt;
  if (!value) return "None of our variants has a throughput.";
  const row& r = *best->at(n);
  const char* const verb = unit == speed_unit::bytes      ? " moves "
                           : unit == speed_unit::elements ? " takes in "
                                                          : " does ";
  std::string text = best->label + verb + throughput_text(*value, unit) + " at " + r.at();
  if (r.fraction) text += ", " + significant(*r.fraction, 2) + " of " + limit_words(r);
  return text + ".";
}

}  // namespace

html time_section(const panel& p, page_builder& page) {
  html whole;
  for (const board& b : p.boards) {
    const std::string name = b.title.empty() ? b.name : b.name + " · " + b.title;
    html pair = page.figure(time_chart(p, b), "Time against n", time_finding(b), numbers(b, time_cell));
    pair += page.figure(rate_chart(p, b), "Throughput against n", rate_finding(b),
                        numbers(b, [unit = b.unit()](const row* r) { return rate_cell(r, unit); }));
    whole += tag("h4", html::text(name)) + tag("div", {{"class", "figures"}}, pair);
  }
  return whole;
}

}  // namespace tilewise::report
