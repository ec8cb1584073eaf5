// SPDX-License-Identifier: Apache-2.0
// Kernel times against transfers, and the size from which a device is faster including its transfers.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"

namespace tilewise::report {

namespace {

using nlohmann::json;

html clock_cell(const std::optional<interval>& time) {
  return html::text(time ? marked(time->is_narrow(), duration(time->median)) : "–");
}

/// Whether the kernel and both transfers can be trusted, and so their shares.
bool is_sure(const row& r) { return r.ranked() && r.h2d->is_narrow() && r.d2h->is_narrow(); }

html shares(const board& b, const std::vector<const row*>& trips, page_builder& page) {
  std::vector<std::string> labels;
  std::vector<double> there, kernel, back;
  std::vector<std::vector<html>> rows;
  for (const row* r : trips) {
    const double total = r->h2d->median + r->kernel->median + r->d2h->median;
    labels.push_back(r->size());
    there.push_back(r->h2d->median / total);
    kernel.push_back(r->kernel->median / total);
    back.push_back(r->d2h->median / total);
    rows.push_back({html::text(r->size()), html::text(short_name(r->variant)), clock_cell(r->h2d),
                    clock_cell(r->kernel), clock_cell(r->d2h), clock_cell(r->round_trip)});
  }
  return page.figure(
      {{"kind", "stack"},
       {"x", "share of the three"},
       {"y", "n"},
       {"unit", "share"},
       {"labels", labels},
       {"parts",
        {stack_part("to the device", 1, there), stack_part("kernel", 0, kernel), stack_part("back", 2, back)}}},
      b.name + ": copies and kernel.",
      "At " + trips.back()->at() + " the kernel takes " + marked(is_sure(*trips.back()), percent(kernel.back())) +
          " of the time for copying there, computing and copying back.",
      table("Median times of the fastest variant with its copies. Each was measured by itself: what is marked ? has no "
            "interval within ± 5 %, and such a copy may even seem longer than the round trip that it is a part of.",
            {"n", "variant", "to the device", "kernel", "back", "round trip"}, rows));
}

html against_cpu(const panel& p, const board& b, const std::vector<const row*>& trips, page_builder& page) {
  json device = json::array(), host = json::array();
  const row *ours = nullptr, *theirs = nullptr;
  std::vector<std::vector<html>> rows;
  for (const row* r : trips) {
    if (!r->round_trip) continue;
    ours = r;
    const row* cpu = best_on_cpu(p, r->n);
    const double n = static_cast<double>(r->n);
    device.push_back(chart_point(n, *r->round_trip, r->round_trip->is_narrow()));
    if (cpu) theirs = cpu;
    if (cpu) host.push_back(chart_point(n, *cpu->kernel, cpu->ranked()));
    rows.push_back({html::text(r->size()), clock_cell(r->round_trip), html::text(cpu ? marked_time(*cpu) : "–"),
                    html::text(cpu ? marked(cpu->ranked() && r->round_trip->is_narrow(),
                                            factor(cpu->kernel->median / r->round_trip->median))
                                   : "–")});
  }
  const std::string finding = break_even(p, b);
  if (finding.empty()) return {};
  const html numbers = table("Round trip of the device against the fastest of the CPU.",
                             {"n", b.name + ", round trip", "best on cpu", "CPU time / device time"}, rows);
  chart_colours colours(page);
  json lines =
      json::array({chart_line(b.name + " with transfers", role::tilewise, colours.of(*ours), std::move(device)),
                   chart_line("best on cpu", role::tilewise, colours.of(*theirs), std::move(host))});
  if (!has_enough_points(lines)) return tag("div", paragraph(finding) + folded("The numbers", numbers));
  return page.figure(
      {{"kind", "lines"}, {"x", axis_of(p)}, {"y", "time"}, {"unit", "time"}, {"lines", std::move(lines)}},
      b.name + " with its transfers against the CPU.", finding, numbers);
}

}  // namespace

html transfer_section(const panel& p, page_builder& page) {
  html figures;
  for (const board* b : p.processors()) {
    if (b->is_cpu) continue;
    const std::vector<const row*> trips = best_trips(*b);
    if (trips.empty()) continue;
    figures += shares(*b, trips, page);
    figures += against_cpu(p, *b, trips, page);
  }
  html section;
  if (!figures.empty()) section += tag("h4", "Where a job’s time goes") + tag("div", {{"class", "figures"}}, figures);
  std::vector<html> travels;
  for (const std::string& finding : travel_findings(p)) travels.push_back(html::sentence(finding));
  if (!travels.empty()) section += tag("h4", "Between the ranks of a group") + list("ul", {}, travels);
  return section;
}

}  // namespace tilewise::report
