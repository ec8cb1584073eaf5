// SPDX-License-Identifier: Apache-2.0
// The measurements of the documents that the project started from, with a chapter for each: its tables with our times,
// its charts with ours, and answers to its questions from this machine. Published figures are the documents' own, from
// other machines, and are not ranked.
#include "report/seeds/seeds.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"

#include <algorithm>
#include <utility>

namespace tilewise::report {

namespace {

using cells = std::vector<html>;

html time_of(const row& r) {
  if (r.wrong()) return tag("strong", {{"class", "wrong"}}, "WRONG");
  if (!r.timed()) return html::text(std::string(name_of(r.status)));
  return html::text(marked_time(r) + (r.kernel->low ? "" : ", no interval") + (r.plausible ? "" : ", implausible"));
}

html over(std::optional<double> theirs, std::optional<double> ours, bool is_sure) {
  return html::text(theirs && ours ? marked(is_sure, factor(*theirs / *ours)) : "–");
}

std::optional<double> median_of(const row* r, bool with_transfers) {
  const auto& taken = r && with_transfers ? r->round_trip : r ? r->kernel : std::nullopt;
  return r && r->timed() && taken ? std::optional(taken->median) : std::nullopt;
}

/// A quotient of two times is in doubt if either time is.
html speedup_of(const row* baseline, const row* r, bool with_transfers) {
  const bool is_sure = baseline && r && is_counted_sure(*baseline, false) && is_counted_sure(*r, with_transfers);
  return over(median_of(baseline, false), median_of(r, with_transfers), is_sure);
}

html marked_median(const row* r, bool with_transfers, double times = 1) {
  const std::optional<double> time = median_of(r, with_transfers);
  return html::text(time ? marked(is_counted_sure(*r, with_transfers), duration(*time * times)) : "–");
}

/// One line, and another line for each further figure.
std::vector<cells> lines_of(const row& r, const row* baseline, bool names_tuning) {
  const std::string name = short_name(r.variant) + (names_tuning ? " " + r.tuning : "");
  cells first{html::text(name), html::text(r.device), time_of(r), speedup_of(baseline, &r, false),
              html::text(transfers_text(r))};
  std::vector<cells> lines;
  for (const record::published_time& p : r.experiment->published) {
    if (!(p.ns > 0)) continue;
    first.insert(
        first.end(),
        {html::text(duration(p.ns)), over(p.ns, median_of(&r, p.with_transfers), is_counted_sure(r, p.with_transfers)),
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

/// Every row of a problem, with the figures to show beside it.
html all_rows(const document_problem& p) {
  const row* baseline = p.baseline();
  std::vector<cells> lines;
  for (const row* r : p.rows) {
    const bool has_twin = std::any_of(p.rows.begin(), p.rows.end(), [&](const row* other) {
      return other != r && other->variant == r->variant && other->device == r->device;
    });
    for (cells& l : lines_of(*r, baseline, has_twin)) lines.push_back(std::move(l));
  }
  return tag("div", {{"class", "dense beside"}},
             table("Our times, and what was published.",
                   {"variant", "device", "time", "speedup", "with transfers", "published", "published / ours",
                    "what was published"},
                   lines, content::words));
}

/// The rows to show beside a figure of the document. If a variant was swept on a device, only the fastest.
std::vector<const row*> rows_beside(const document_problem& p, const record::published_time& of) {
  std::vector<const row*> beside;
  for (const row* r : p.rows) {
    const auto& own = r->experiment->published;
    if (std::none_of(own.begin(), own.end(), [&](const auto& time) {
          return time.system == of.system && time.machine == of.machine && time.with_transfers == of.with_transfers;
        }))
      continue;
    const auto twin = std::find_if(beside.begin(), beside.end(), [&](const row* other) {
      return other->variant == r->variant && other->device == r->device;
    });
    if (twin == beside.end())
      beside.push_back(r);
    else if (faster(*twin, r, of.with_transfers) == r)
      *twin = r;
  }
  return beside;
}

cells ours_beside(const record::published_time& of, const row& r, const document_problem& p) {
  const std::optional<double> time = median_of(&r, of.with_transfers);
  const std::string differs = r.experiment->differs ? *r.experiment->differs : "";
  return {html::text(short_name(r.variant) + " @" + place_of(r)),
          time ? marked_median(&r, of.with_transfers) : time_of(r), speedup_of(p.baseline(), &r, of.with_transfers),
          over(of.ns, time, is_counted_sure(r, of.with_transfers)), html::text(differs.empty() ? r.reason : differs)};
}

/// The document's table for one machine, with our columns beside it.
html published_on(const document_problem& p, const std::vector<record::published_time>& published,
                  const std::string& machine) {
  std::vector<cells> lines;
  for (const record::published_time& of : published) {
    if (of.machine != machine) continue;
    cells line{html::text(of.system + (of.with_transfers ? ", with transfers" : "")), html::text(duration(of.ns))};
    const std::vector<const row*> beside = rows_beside(p, of);
    for (const row* r : beside) {
      const cells ours = ours_beside(of, *r, p);
      line.insert(line.end(), ours.begin(), ours.end());
      lines.push_back(std::exchange(line, cells(2)));
    }
    if (!beside.empty()) continue;
    line.insert(line.end(), {"not measured here", "–", "–", "–", ""});
    lines.push_back(std::move(line));
  }
  return tag("div", {{"class", "dense beside"}},
             table(p.rows.front()->at() + ", published for " + machine + ", and ours.",
                   {"what was published", "published", "ours", "time", "speedup", "published / ours",
                    "what ours does otherwise"},
                   lines, content::words));
}

html published_tables(const document_problem& p) {
  const std::vector<record::published_time> published = p.published();
  std::vector<std::string> machines;
  for (const record::published_time& of : published)
    if (std::find(machines.begin(), machines.end(), of.machine) == machines.end()) machines.push_back(of.machine);
  html tables;
  for (const std::string& machine : machines) tables += published_on(p, published, machine);
  return tables;
}

/// The fastest row that repeats a program, on any device.
const row* repeating(const document_problem& p, const std::string& system) {
  const row* best = nullptr;
  for (const row* r : p.rows)
    if (system_of(*r) == system) best = faster(best, r, false);
  return best;
}

/// Programs by sizes: each cell has the document's time of a whole run and ours. Used if the measured work is a part of
/// long runs.
html run_table(const document_study& s, bool of_speedups) {
  std::vector<std::string> systems, heads{"program"};
  for (const document_problem& p : s.sizes) {
    heads.push_back(p.rows.front()->size() + ", published");
    heads.push_back("here");
    for (const row* r : p.rows)
      if (const std::string system = system_of(*r);
          !system.empty() && std::find(systems.begin(), systems.end(), system) == systems.end())
        systems.push_back(system);
  }
  std::vector<cells> lines;
  for (const std::string& system : systems) {
    cells& line = lines.emplace_back(cells{html::text(system)});
    for (const document_problem& p : s.sizes) {
      const auto published = p.published();
      const auto of = std::find_if(published.begin(), published.end(),
                                   [&](const auto& time) { return time.system.starts_with(system); });
      const row* base = p.baseline();
      const auto base_of = std::find_if(published.begin(), published.end(), [&](const auto& time) {
        return base && !system_of(*base).empty() && time.system.starts_with(system_of(*base));
      });
      const row* ours = repeating(p, system);
      const bool has_both = of != published.end() && base_of != published.end();
      if (of_speedups) {
        line.push_back(has_both ? html::text(factor(base_of->ns / of->ns)) : html("–"));
        line.push_back(speedup_of(base, ours, false));
      } else {
        line.push_back(of == published.end() ? html("–") : html::text(duration(of->ns * p.times_in_run())));
        line.push_back(marked_median(ours, false, p.times_in_run()));
      }
    }
  }
  if (lines.empty()) return {};
  return table(of_speedups
                   ? "Speedups over the baseline’s program, the document’s and ours."
                   : "Times of whole runs: our times of a part of the steps, multiplied by how often the run has it.",
               heads, lines);
}

std::string sentence_about(const document_problem& p) {
  const row* baseline = p.baseline();
  std::string text;
  const bool is_right = std::any_of(p.rows.begin(), p.rows.end(), [](const row* r) { return r->verified; });
  if (!p.from->first_outputs.empty() && is_right)
    text += "The result begins " + p.from->first_outputs + ", as published. ";
  return text + (baseline ? "Speedups are over " + short_name(baseline->variant) + " on " + baseline->device + "."
                          : "There is no speedup, since " + p.from->baseline + " was not measured.");
}

html study_html(const document_study& s, page_builder& page) {
  html whole = tag("h3", html::text(s.title)) + paragraph(sentence_about(s.sizes.back()));
  const bool is_part_of_runs = s.sizes.back().times_in_run() != 1;
  if (is_part_of_runs)
    whole += run_table(s, false) + run_table(s, true);
  else
    for (const document_problem& p : s.sizes) whole += published_tables(p);
  html charts = study_charts(s, page);
  charts += sweep_charts(s, page);
  if (!charts.empty()) whole += tag("div", {{"class", "figures"}}, charts);
  whole += study_answers(s);
  for (const document_problem& p : s.sizes) whole += folded("All rows at " + p.rows.front()->at(), all_rows(p));
  return whole + left_out(s.left_out, "problems");
}

}  // namespace

std::vector<chapter> seeds_chapters(const model& m, page_builder& page) {
  constexpr std::size_t most_chapters = 50;
  const std::vector<document_chapter> all = document_chapters(m);
  std::vector<chapter> chapters;
  std::size_t bytes = 0, shown = 0;
  for (; shown < std::min(all.size(), most_chapters) && bytes < page_limits::section; ++shown) {
    const document_chapter& c = all[shown];
    html content = paragraph(
        "Measured here with what repeats the document’s programs and with our other variants. Published figures are "
        "quoted, and come from other machines; one that includes transfers is compared with our time including them.");
    if (m.machines.size() > 1) content += paragraph("Measured on " + c.machine + ".");
    for (const document_study& s : c.studies)
      if (content.size() < page_limits::section) content += study_html(s, page);
    // The second half of the lecture is about speedups, which `tilewise scale` measures.
    if (c.document.find("lecture") != c.document.npos) content += scaling_laws(m, c.machine);
    bytes += content.size();
    chapters.push_back({c.document, std::move(content)});
  }
  if (!chapters.empty()) chapters.back().content += left_out(all.size() - shown, "documents");
  return chapters;
}

bool is_of_documents(const model& m) {
  return std::all_of(m.rows.begin(), m.rows.end(),
                     [](const row& r) { return r.is_limit() || r.experiment != nullptr; });
}

}  // namespace tilewise::report
