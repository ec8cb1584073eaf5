// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/report.hpp"
#include "report/standing/matrix.hpp"

#include <algorithm>
#include <set>

namespace tilewise::report {

namespace {

/// Escapes a text for a table cell, so that nothing of it is markup.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      safe += ' ';
      continue;
    }
    if (std::string_view("\\`*_{}[]<>#|!~&").find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

/// The row's time; if it is in doubt, with the reason.
std::string time_of(const row& r) {
  const std::string doubt = r.doubt();
  return marked_time(r) + (doubt.empty() ? "" : " (" + escaped(doubt) + ")");
}

std::string against_peer(const board& b, const row& ours) {
  const series* peer = b.fastest_shown(role::peer, ours.n);
  if (!peer) return "–";
  const row& theirs = *peer->at(ours.n);
  const auto q = ratio_to(ours, theirs.variant);
  const std::string value = q ? ratio_text(q->value) : factor(theirs.kernel->median / ours.kernel->median);
  return marked(standing_against(ours, theirs).has_sure_speed, value) + " × " + escaped(peer->label);
}

std::string line(const panel& p, const board& b, speed_unit unit, const series& s, const row& r) {
  const std::string bits = r.own_order ? "own order" : "`" + escaped(std::string(base::beginning(r.digest, 8))) + "` =";
  const auto speed = r.throughput(unit);
  const std::string hardware = b.title.empty() ? b.name : b.title;
  const std::string settings = with_data(p.settings, p.asked_data);
  const std::string problem = p.algorithm + " " + p.dtype + (settings.empty() ? "" : ", " + settings);
  return "| " + escaped(problem) + " | " + escaped(r.size()) + " | " + escaped(hardware) + " | " + escaped(s.label) +
         " | " + time_of(r) + " | " + (speed ? marked(r.ranked(), throughput_text(*speed, unit, p.dtype)) : "–") +
         " | " + (shows_share(r) ? marked(r.has_sure_limit, significant(*r.fraction, 2)) : "–") + " | " +
         against_peer(b, r) + " | " + bits + " |\n";
}

/// The panels that get a table: for each algorithm on each machine the fullest. Added to these are other shapes of it,
/// fp64 if arithmetic is the limit (since other units compute it), and data that was asked for. A document's inputs and
/// whole jobs are compared only on the page.
std::vector<const panel*> table_panels(const model& m) {
  std::vector<const panel*> chosen;
  for (const panel* first : main_panels(m)) {
    if (first->is_of_jobs()) continue;
    for (const panel& p : m.panels) {
      const bool same = p.algorithm == first->algorithm && p.machine == first->machine &&
                        p.settings == first->settings && p.mode == first->mode &&
                        (p.has_data_of(*first) || !p.asked_data.empty());
      const bool is_bound = !p.boards.empty() && p.boards.front().speed_in == speed_unit::operations;
      if (same && (p.dtype == first->dtype || (is_bound && p.dtype == "f64"))) chosen.push_back(&p);
    }
  }
  return chosen;
}

/// The heading of one algorithm's table.
std::string head(const panel& p) {
  const speed_unit unit = p.boards.empty() ? speed_unit::bytes : p.boards.front().speed_in;
  const char* const speed = unit == speed_unit::bytes      ? "bytes/time | of copy"
                            : unit == speed_unit::elements ? "keys/time | of copy"
                                                           : "operations/time | of multiply-adds";
  return "\n| problem | n | processor | variant | time | " + std::string(speed) +
         " | speed against peer | bits |\n|---|--:|---|---|--:|--:|--:|---|---|\n";
}

/// The verdict at the largest size that can be trusted, if it is shown as a ratio; otherwise null.
const standing* told_ratio(const matrix_cell& c) {
  const standing& at = c.what.position == position::in_doubt ? c.smaller : c.what;
  return at.ours && at.speed ? &at : nullptr;
}

/// An algorithm's line in the table of ratios. In each column it has the first cell of the algorithm's matrix lines
/// that exists.
struct ratio_line {
  std::string problem;  // "f32 op=sum"; for each column if they differ
  std::vector<std::string> cells;
  bool tells_anything = false;
};

ratio_line ratios_of(const matrix& all, const std::string& algorithm) {
  ratio_line made;
  std::set<std::string> problems;
  for (std::size_t column = 0; column < all.columns.size(); ++column) {
    std::string& cell = made.cells.emplace_back("–");
    for (const matrix::line& l : all.lines) {
      const matrix_cell* c = l.algorithm == algorithm ? l.cells[column] : nullptr;
      const standing* told = c ? told_ratio(*c) : nullptr;
      if (!told) continue;
      cell = told->position == position::ahead ? "**" + speed_text(*told) + "**" : speed_text(*told);
      made.tells_anything = true;
      if (const std::string words = words_of(*c->of); problems.insert(words).second)
        made.problem += (made.problem.empty() ? "" : "; ") + words;
      break;
    }
  }
  return made;
}

std::string machines_sentence(const model& m) {
  std::string text = m.machines.size() == 1 ? "Machine: " : "Machines: ";
  for (const std::string& machine : m.machines)
    text += (&machine == &m.machines.front() ? "" : ", ") + escaped(machine);
  return text + ".";
}

constexpr const char* begin_mark = "<!-- results:begin -->\n";
constexpr const char* end_mark = "\n<!-- results:end -->\n";

}  // namespace

std::string matrix_markdown(const model& m) {
  const std::vector<const panel*> panels = matrix_panels(m);
  const std::vector<matrix_cell> cells = cells_of(panels, other_panels(m, panels));
  const matrix all = make_matrix(cells);
  std::string text = begin_mark + std::string("| algorithm |");
  for (const std::string& column : all.columns) text += " " + escaped(column) + " |";
  text += "\n|---|";
  for (std::size_t i = 0; i < all.columns.size(); ++i) text += "--:|";
  std::set<std::string> done;
  for (const matrix::line& l : all.lines) {
    if (!done.insert(l.algorithm).second) continue;
    const ratio_line line = ratios_of(all, l.algorithm);
    if (!line.tells_anything) continue;
    text += "\n| **" + escaped(l.algorithm) + "** " + escaped(line.problem) + " |";
    for (const std::string& cell : line.cells) text += " " + cell + " |";
  }
  return text + end_mark;
}

std::string markdown(const model& m) {
  std::string text = begin_mark + escaped(bits_finding(m)) + "\n";
  std::string algorithm;
  for (const panel* p : table_panels(m)) {
    if (p->algorithm != algorithm) text += head(*p);
    algorithm = p->algorithm;
    for (const board& b : p->boards) {
      const speed_unit unit = b.unit();
      for (const std::uint64_t n : b.sizes())
        if (const series* best = b.fastest_shown(role::tilewise, n)) text += line(*p, b, unit, *best, *best->at(n));
    }
  }
  for (const panel* p : table_panels(m))
    for (const std::string& finding : travel_findings(*p)) text += "\n" + escaped(p->algorithm + " " + finding);
  for (const std::string& finding : change_findings(m)) text += "\n" + escaped(finding);
  text +=
      "\n\nThe fastest variant of each processor at each size; median kernel time, data resident; ? marks what "
      "rests on a time or a limit in doubt; such a variant is the fastest only where nothing else was measured. Ratios "
      "are speed ratios of interleaved runs, "
      "with their 95 % intervals. ";
  return text + machines_sentence(m) + end_mark;
}

}  // namespace tilewise::report
