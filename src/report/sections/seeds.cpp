// SPDX-License-Identifier: Apache-2.0
// The measurements of the documents that the project started from, with a chapter for each: its tables with our times,
// its charts with ours, and answers to its questions from this machine. Published figures are the documents' own, from
// other machines, and are not ranked.
#include "report/seeds/seeds.hpp"
#include "record/published.hpp"
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

/// One line, and another line for each further figure.
std::vector<cells> lines_of(const row& r, const row* baseline, bool names_tuning) {
  const std::string name = short_name(r.variant) + (names_tuning ? " " + r.tuning : "");
  cells first{html::text(name), html::text(place_of(r)), time_of(r), speedup_cell(baseline, &r, false),
              html::text(transfers_text(r))};
  std::vector<cells> lines;
  for (const record::published_time& p : r.experiment->published) {
    if (!(p.ns > 0) || !stands_beside(r, p)) continue;
    const std::string digits = record::published_digits(r.experiment->document, r.shape, p);
    first.insert(first.end(),
                 {html::text(digits.empty() || r.experiment->times_in_run ? duration(p.ns) : digits),
                  over(p.ns, median_of(&r, p.with_transfers), is_counted_sure(r, p.with_transfers)),
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
  std::vector<cells> lines;
  for (const row* r : p.rows) {
    const bool has_twin = std::any_of(p.rows.begin(), p.rows.end(), [&](const row* other) {
      return other != r && other->variant == r->variant && other->device == r->device;
    });
    for (cells& l : lines_of(*r, p.baseline(), has_twin)) lines.push_back(std::move(l));
  }
  return tag("div", {{"class", "dense beside"}},
             table("Our times, and what was published.",
                   {"variant", "device", "time", "speedup", "with transfers", "published", "published / ours",
                    "what was published"},
                   lines, content::words));
}

/// The rows to show beside a time of the document. If a variant was swept on a device, only the fastest.
std::vector<const row*> rows_beside(const document_problem& p, const quoted_time& of) {
  std::vector<const row*> beside;
  for (const row* r : p.rows) {
    const auto& own = r->experiment->published;
    if (std::none_of(own.begin(), own.end(), [&](const auto& time) { return is_same(time, of.as); })) continue;
    if (!stands_beside(*r, of.as)) continue;
    const auto twin = std::find_if(beside.begin(), beside.end(), [&](const row* other) {
      return other->variant == r->variant && other->device == r->device;
    });
    if (twin == beside.end())
      beside.push_back(r);
    else if (faster(*twin, r, of.as.with_transfers) == r)
      *twin = r;
  }
  return beside;
}

/// Which columns a document's table has besides the times.
struct asked_columns {
  bool speedup, outputs, check;
};

asked_columns columns_of(const quoted_table& t, const document_problem& p) {
  return {std::any_of(t.rows.begin(), t.rows.end(), [](const quoted_time& q) { return !q.speedup.empty(); }),
          !p.from->first_outputs.empty(), p.from->check_value.has_value()};
}

/// What is known of a right result, by the columns that the table has.
void add_result(const row& r, const document_problem& p, const asked_columns& has, cells& to) {
  const bool is_right = r.is_ok() && r.verified;
  if (has.outputs) to.push_back(html::text(is_right ? p.from->first_outputs : "–"));
  if (has.check) to.push_back(html::text(is_right ? *p.from->check_value : "–"));
}

/// A variant that the device's local memory is too small for has the row that the document fell back to.
cells ours_beside(const quoted_time& of, const row& r, const document_problem& p, const asked_columns& has) {
  const row* instead = fallback_of(r, p);
  const row& shown = instead ? *instead : r;
  const bool with_transfers = of.as.with_transfers;
  const std::optional<double> time = median_of(&shown, with_transfers);
  const std::string differs = r.experiment->differs ? *r.experiment->differs : "", name = short_name(r.variant);
  cells line{html::text(name_with_place(shown)) + (instead ? tag("div", html::text("in place of " + name)) : html()),
             time ? marked_median(&shown, with_transfers, 1) : time_of(r)};
  if (has.speedup) line.push_back(speedup_cell(p.baseline(), &shown, with_transfers));
  line.push_back(over(of.ns / p.times_in_run(), time, is_counted_sure(shown, with_transfers)));
  add_result(shown, p, has, line);
  line.push_back(html::text(instead ? name + " is refused: " + r.reason : differs.empty() ? r.reason : differs));
  return line;
}

std::vector<std::string> heads_of(const document_problem& p, const asked_columns& has) {
  std::vector<std::string> heads{"program", "published"};
  const auto add = [&](bool is_asked, const std::string& head) {
    if (is_asked) heads.push_back(head);
  };
  add(has.speedup, "published speedup");
  add(true, "ours");
  add(true, "time");
  add(has.speedup, "speedup");
  add(true, "published / ours");
  add(has.outputs, "the result begins");
  add(has.check, has.check ? p.from->check->c_str() : "");
  add(true, "what ours does otherwise");
  return heads;
}

/// The document's table, row by row, with our columns beside it.
html quoted_html(const document_problem& p, const quoted_table& t) {
  const asked_columns has = columns_of(t, p);
  const std::vector<std::string> heads = heads_of(p, has);
  const std::size_t own = has.speedup ? 3 : 2;  // columns of the document
  std::vector<cells> lines;
  for (const quoted_time& of : t.rows) {
    cells line{html::text(of.program + (of.as.with_transfers ? ", with transfers" : "")), html::text(of.time)};
    if (has.speedup) line.push_back(html::text(of.speedup.empty() ? "–" : of.speedup));
    const std::vector<const row*> beside = rows_beside(p, of);
    for (const row* r : beside) {
      const cells ours = ours_beside(of, *r, p, has);
      line.insert(line.end(), ours.begin(), ours.end());
      lines.push_back(std::exchange(line, cells(own)));
    }
    if (!beside.empty()) continue;
    line.push_back("not measured here");
    line.resize(heads.size() - 1, "–");
    line.emplace_back();
    lines.push_back(std::move(line));
  }
  return tag("div", {{"class", "dense quoted"}}, table(t.caption, heads, lines, content::words)) +
         (t.note.empty() ? html() : tag("p", {{"class", "note"}}, html::text(t.note)));
}

html published_tables(const document_problem& p) {
  html tables;
  for (const quoted_table& t : quoted_tables(p)) tables += quoted_html(p, t);
  return tables;
}

std::string sentence_about(const document_study& s) {
  const document_problem& p = s.sizes.back();
  const row* baseline = p.baseline();
  std::string text;
  const bool is_right = std::any_of(p.rows.begin(), p.rows.end(), [](const row* r) { return r->verified; });
  if (!p.from->first_outputs.empty() && is_right)
    text += "The result begins " + p.from->first_outputs + ", as published. ";
  const char* of = s.has_own_speedups() ? "Speedups are over " : "The speedups among all rows are over ";
  return text + (baseline ? of + name_with_place(*baseline) + "."
                          : "There is no speedup, since " + p.from->baseline + " was not measured.");
}

html study_html(const document_study& s, const std::vector<roofline>& roofs, page_builder& page) {
  html whole = tag("h3", html::text(s.title)) + paragraph(sentence_about(s));
  const bool is_part_of_runs = s.sizes.back().times_in_run() != 1;
  if (is_part_of_runs)
    whole += programs_of_runs(s) + runtime_figures(s, page);
  else
    for (const document_problem& p : s.sizes) whole += published_tables(p);
  html charts = study_charts(s, page);
  charts += sweep_charts({&s}, page);
  if (!charts.empty()) whole += tag("div", {{"class", "figures"}}, charts);
  whole += architecture_tables(s, roofs);
  whole += study_answers(s);
  const std::vector<std::string> names = size_names(s);
  for (std::size_t i = 0; i < s.sizes.size(); ++i) {
    const row& first = *s.sizes[i].rows.front();
    const bool is_own = names[i] == first.size();
    whole += folded("All rows at " + (is_own ? first.at() : names[i] + ": " + first.at()), all_rows(s.sizes[i]));
  }
  return whole + left_out(s.left_out, "problems");
}

/// The same study on all machines that measured it.
std::vector<const document_study*> on_all_machines(const std::vector<document_chapter>& all,
                                                   const std::string& document, const std::string& title) {
  std::vector<const document_study*> found;
  for (const document_chapter& c : all)
    for (const document_study& s : c.studies)
      if (c.document == document && s.title == title) found.push_back(&s);
  return found;
}

/// In the document's first chapter: what it swept, with the devices of all machines beside each other.
html all_machines_html(const document_chapter& c, const std::vector<document_chapter>& all, page_builder& page) {
  html charts;
  for (const document_study& s : c.studies)
    if (const auto studies = on_all_machines(all, c.document, s.title); studies.size() > 1 && studies.front() == &s)
      charts += sweep_charts(studies, page);
  return charts.empty() ? html() : tag("h3", "Devices of all machines") + tag("div", {{"class", "figures"}}, charts);
}

}  // namespace

std::vector<chapter> seeds_chapters(const model& m, const std::vector<roofline>& roofs, page_builder& page) {
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
    const bool is_lecture = c.document.find("lecture") != c.document.npos;
    if (is_lecture) content += lecture_worked();
    for (const document_study& s : c.studies)
      if (content.size() < page_limits::section) content += study_html(s, roofs, page);
    content += all_machines_html(c, all, page);
    // The second half of the lecture is about speedups, which `tilewise scale` measures.
    if (is_lecture) content += scaling_laws(m, c.machine, page);
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
