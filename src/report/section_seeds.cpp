// What the documents measured that the project started from, beside our times of the same problems. The figures are the
// documents' own: they are drawn in no chart and ranked nowhere.
#include "report/format.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <utility>

namespace tilewise::report {

namespace {

using nlohmann::json;

struct published {
  std::string system, machine;
  double ns;
  bool with_transfers;
};

std::vector<published> published_of(const row& r) {
  std::vector<published> all;
  if (const json* list = find(*r.record, "experiment.published"); list && list->is_array())
    for (const json& entry : *list) {
      const json* transfers = find(entry, "with_transfers");
      if (const auto ns = number_at(entry, "ns"); ns && *ns > 0)
        all.push_back({text_at(entry, "system"), text_at(entry, "machine"), *ns,
                       transfers && transfers->is_boolean() && transfers->get<bool>()});
    }
  return all;
}

/// One problem of a document on one machine, all devices.
struct comparison {
  std::string machine, problem, document, first_outputs, baseline_id, baseline_device;
  std::vector<const row*> rows;

  /// Where the document ran it, if that was measured.
  const row* baseline() const {
    const row* found = nullptr;
    for (const row* r : rows)
      if (r->variant == baseline_id && r->timed() && (!found || r->device == baseline_device)) found = r;
    return found;
  }
};

std::string problem_of(const row& r) { return r.group.substr(0, r.group.rfind(" @")); }

/// A later record of a case replaces an earlier one.
void place(const row& r, std::vector<const row*>& rows) {
  const auto same = std::find_if(rows.begin(), rows.end(), [&](const row* known) {
    return known->variant == r.variant && known->device == r.device && known->tuning == r.tuning &&
           known->threads == r.threads && known->mode == r.mode;
  });
  if (same == rows.end())
    rows.push_back(&r);
  else
    *same = &r;
}

std::vector<comparison> comparisons(const model& m) {
  std::vector<comparison> all;
  for (const row& r : m.rows) {
    if (r.is_limit() || !find(*r.record, "experiment")) continue;
    const auto known = std::find_if(all.begin(), all.end(), [&](const comparison& c) {
      return c.machine == r.machine && c.problem == problem_of(r);
    });
    comparison& c = known == all.end() ? all.emplace_back() : *known;
    c.machine = r.machine;
    c.problem = problem_of(r);
    c.document = text_at(*r.record, "experiment.document");
    c.first_outputs = text_at(*r.record, "experiment.first_outputs");
    c.baseline_id = text_at(*r.record, "experiment.baseline");
    c.baseline_device = text_at(*r.record, "experiment.baseline_device");
    place(r, c.rows);
  }
  return all;
}

html time_of(const row& r) {
  if (r.wrong()) return tag("strong", {{"class", "wrong"}}, "WRONG");
  if (!r.timed()) return html::text(r.status);
  return html::text(duration(r.kernel->median) + (r.kernel->low ? "" : ", no interval"));
}

using line = std::vector<html>;

/// A line, and one more for each further figure.
std::vector<line> lines_of(const row& r, const row* baseline) {
  const auto median = [&](bool with_transfers) -> std::optional<double> {
    const auto& taken = with_transfers ? r.round_trip : r.kernel;
    return r.timed() && taken ? std::optional(taken->median) : std::nullopt;
  };
  const auto over = [](std::optional<double> theirs, std::optional<double> ours) {
    return html::text(theirs && ours ? factor(*theirs / *ours) : "–");
  };
  line first{html::text(short_name(r.variant)), html::text(r.device), time_of(r),
             over(baseline ? std::optional(baseline->kernel->median) : std::nullopt, median(false)),
             html::text(median(true) ? duration(*median(true)) : "–")};
  std::vector<line> lines;
  for (const published& p : published_of(r)) {
    first.insert(first.end(),
                 {html::text(duration(p.ns)), over(p.ns, median(p.with_transfers)),
                  html::text(p.system + (p.with_transfers ? ", with transfers" : "") + "; on " + p.machine)});
    lines.push_back(std::exchange(first, line(5)));
  }
  if (lines.empty() || !r.reason.empty()) {
    first.resize(7, lines.empty() ? html("–") : html());
    first.push_back(html::text(r.reason));
    lines.push_back(first);
  }
  return lines;
}

html told(const comparison& c) {
  const row* baseline = c.baseline();
  std::string text = c.document + ".";
  const bool is_right = std::any_of(c.rows.begin(), c.rows.end(), [](const row* r) { return r->verified; });
  if (!c.first_outputs.empty() && is_right) text += " The result begins " + c.first_outputs + ", as published.";
  text += baseline ? " Speedups are over " + short_name(baseline->variant) + " on " + baseline->device + "."
                   : " There is no speedup, since " + c.baseline_id + " was not measured.";
  std::vector<line> lines;
  for (const row* r : c.rows)
    for (line& l : lines_of(*r, baseline)) lines.push_back(std::move(l));
  return tag("h3", html::text(c.problem)) + paragraph(text) +
         tag("div", {{"class", "dense beside"}},
             table({"variant", "device", "time", "speedup", "with transfers", "published", "published / ours",
                    "what was published"},
                   lines, content::words));
}

}  // namespace

html seeds_section(const model& m) {
  html tables;
  for (const comparison& c : comparisons(m)) {
    tables += told(c);
    if (m.machines.size() > 1) tables += paragraph("Measured on " + c.machine + ".");
  }
  if (tables.empty()) return {};
  return tag("h2", "The documents’ experiments") +
         paragraph(
             "The problems of the documents that Tilewise started from, measured here with every variant. The "
             "published figures are quoted from the documents and come from other machines; where a figure counts the "
             "transfers, our time with transfers stands against it.") +
         tables;
}

}  // namespace tilewise::report
