// The measurements of the documents that the project started from, beside our times for the same problems. The figures
// are the documents' own: no chart draws them and nothing ranks them.
#include "report/format.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tilewise::report {

namespace {

/// One problem of a document on one machine, all devices.
struct document_problem {
  std::string machine, problem;
  const record::experiment* from;  // as in the last row
  std::vector<const row*> rows;

  /// On the document's device, if that was measured.
  const row* baseline() const {
    const row* found = nullptr;
    for (const row* r : rows)
      if (r->variant == from->baseline && r->timed() && (!found || r->device == from->baseline_device)) found = r;
    return found;
  }
};

std::string problem_of(const row& r) { return r.group.substr(0, r.group.rfind(" @")); }

/// Of one problem.
auto line_key(const row& r) { return std::tie(r.variant, r.device, r.tuning, r.threads, r.mode); }

std::vector<document_problem> document_problems(const model& m) {
  struct places {
    std::size_t problem;
    std::map<decltype(line_key(std::declval<const row&>())), std::size_t> rows;
  };
  std::map<std::pair<std::string, std::string>, places> known;
  std::vector<document_problem> all;
  for (const row& r : m.rows) {
    if (r.is_limit() || !r.experiment) continue;
    const std::string problem = problem_of(r);
    const auto [at, is_new] = known.try_emplace({r.machine, problem}, places{all.size(), {}});
    if (is_new) all.push_back({r.machine, problem, nullptr, {}});
    document_problem& c = all[at->second.problem];
    c.from = r.experiment;
    const auto [row_at, is_new_case] = at->second.rows.emplace(line_key(r), c.rows.size());
    if (is_new_case) c.rows.push_back(&r);
    c.rows[row_at->second] = &r;  // a later record of a case replaces an earlier one
  }
  return all;
}

html time_of(const row& r) {
  if (r.wrong()) return tag("strong", {{"class", "wrong"}}, "WRONG");
  if (!r.timed()) return html::text(std::string(name_of(r.status)));
  return html::text(duration(r.kernel->median) + (r.kernel->low ? "" : ", no interval") +
                    (r.plausible ? "" : ", implausible"));
}

using cells = std::vector<html>;

/// One line, and another for each further figure.
std::vector<cells> lines_of(const row& r, const row* baseline) {
  const auto median = [&](bool with_transfers) -> std::optional<double> {
    const auto& taken = with_transfers ? r.round_trip : r.kernel;
    return r.timed() && taken ? std::optional(taken->median) : std::nullopt;
  };
  const auto over = [](std::optional<double> theirs, std::optional<double> ours) {
    return html::text(theirs && ours ? factor(*theirs / *ours) : "–");
  };
  cells first{html::text(short_name(r.variant)), html::text(r.device), time_of(r),
              over(baseline ? std::optional(baseline->kernel->median) : std::nullopt, median(false)),
              html::text(median(true) ? duration(*median(true)) : "–")};
  std::vector<cells> lines;
  for (const record::published_time& p : r.experiment->published) {
    if (!(p.ns > 0)) continue;
    first.insert(first.end(),
                 {html::text(duration(p.ns)), over(p.ns, median(p.with_transfers)),
                  html::text(p.system + (p.with_transfers ? ", with transfers" : "") + "; on " + p.machine)});
    lines.push_back(std::exchange(first, cells(5)));
  }
  if (lines.empty() || !r.reason.empty()) {
    first.resize(7, lines.empty() ? html("–") : html());
    first.push_back(html::text(r.reason));
    lines.push_back(first);
  }
  return lines;
}

html told(const document_problem& c) {
  const row* baseline = c.baseline();
  std::string text = c.from->document + ".";
  const bool is_right = std::any_of(c.rows.begin(), c.rows.end(), [](const row* r) { return r->verified; });
  if (!c.from->first_outputs.empty() && is_right)
    text += " The result begins " + c.from->first_outputs + ", as published.";
  text += baseline ? " Speedups are over " + short_name(baseline->variant) + " on " + baseline->device + "."
                   : " There is no speedup, since " + c.from->baseline + " was not measured.";
  std::vector<cells> lines;
  for (const row* r : c.rows)
    for (cells& l : lines_of(*r, baseline)) lines.push_back(std::move(l));
  return tag("h3", html::text(c.problem)) + paragraph(text) +
         tag("div", {{"class", "dense beside"}},
             table("Our times, and what was published.",
                   {"variant", "device", "time", "speedup", "with transfers", "published", "published / ours",
                    "what was published"},
                   lines, content::words));
}

}  // namespace

html seeds_section(const model& m) {
  const std::vector<document_problem> all = document_problems(m);
  if (all.empty()) return {};
  html tables;
  std::size_t shown = 0;
  for (; shown < all.size() && tables.size() < page_limits::section; ++shown) {
    tables += told(all[shown]);
    if (m.machines.size() > 1) tables += paragraph("Measured on " + all[shown].machine + ".");
  }
  tables += left_out(all.size() - shown, "problems");
  return paragraph(
             "The problems of the documents that Tilewise started from, measured here with every variant. The "
             "published figures are quoted from the documents and come from other machines; a figure that includes "
             "transfers is compared with our time including transfers.") +
         tables;
}

}  // namespace tilewise::report
