// SPDX-License-Identifier: Apache-2.0
// The first screen: what was measured on, sentences of verdict, and how our code compares for each algorithm on
// each processor at the largest size. What is too noisy to say is never called a win, and the reason is shown.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"
#include "report/standing/matrix.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace tilewise::report {

namespace {

/// "cuda:0"; if there are several machines, "NVIDIA H200 (cuda:0)".
std::string place_of(const matrix_cell& c, const model& m) {
  if (m.machines.size() == 1) return c.on->name;
  if (!c.machine.empty()) return c.on->name + " of " + c.machine;
  return c.on->title + " (" + c.on->name + ")";
}
/// "scan (90 %) on cuda:0"
std::string told(const matrix_cell& c, const std::string& what, const model& m) {
  return c.of->algorithm + " (" + what + ") on " + place_of(c, m);
}

constexpr std::size_t most_named = 5;  // in one sentence

/// What is listed under a name; names keep the order of their first appearance.
template <class List>
List& under(const std::string& name, std::vector<std::pair<std::string, List>>& all) {
  const auto known = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  return known != all.end() ? known->second : all.emplace_back(name, List()).second;
}

/// The fastest cell of each algorithm's largest problem, on any processor.
std::vector<const matrix_cell*> fastest_of(const matrix& shown) {
  std::vector<const matrix_cell*> all;
  for (auto line = shown.lines.begin(); line != shown.lines.end();) {
    const auto& first = *line;
    const matrix_cell* best = first.fastest;
    for (; line != shown.lines.end() && line->algorithm == first.algorithm; ++line)
      if (line->problem == first.problem && line->fastest->time() < best->time()) best = line->fastest;
    all.push_back(best);
  }
  return all;
}

/// Whether no other processor's time for the problem can be shorter, by the rule of board::fastest.
bool is_fastest_for_sure(const matrix_cell& best, const matrix& shown) {
  const row& ours = *best.what.ours;
  if (ours.ranked()) return true;
  std::size_t others = 0;
  for (const matrix::line& line : shown.lines)
    for (const matrix_cell* c : line.cells) {
      if (!c || c->is_of_other || c->of->algorithm != best.of->algorithm) continue;
      const row& other = *c->what.ours;
      if (&other == &ours || other.at() != ours.at()) continue;
      ++others;
      if (!ours.is_surely_shorter(other)) return false;
    }
  return others > 0;
}

std::string fastest_sentence(const matrix& shown, const model& m) {
  const std::vector<const matrix_cell*> best = fastest_of(shown);
  std::vector<std::pair<std::string, std::vector<std::string>>> won;
  std::vector<std::string> unknown;
  for (const matrix_cell* c : best) {
    if (!is_fastest_for_sure(*c, shown)) {
      unknown.push_back(c->of->algorithm);
      continue;
    }
    under(place_of(*c, m), won).push_back(c->of->algorithm);
  }
  if (won.empty()) return "No fastest device can be named: the times at the largest sizes are too noisy.";
  std::vector<std::string> parts;
  for (const auto& [place, algorithms] : won) {
    const bool is_all = algorithms.size() > 1 && algorithms.size() == best.size();
    parts.push_back(place + " for " +
                    (is_all ? "all " + count(algorithms.size()) + " algorithms" : listed(algorithms, 8)));
  }
  if (!unknown.empty()) parts.push_back("too noisy to say: " + listed(unknown, 8));
  std::string text = "Fastest at the largest size: ";
  for (const std::string& part : parts) text += (&part == &parts.front() ? "" : "; ") + part;
  return text + ".";
}

/// The name of the limit within a sentence.
std::string bound_of(const row& r) {
  if (is_job(r.mode)) return "moving the data";
  return (r.bound_by == record::ceiling::launch ? "a " : "") + std::string(bound_word(*r.bound_by));
}

/// "Memory bounds scan (90 %) on cuda:0 and matvec (93 %) on cuda:0, arithmetic matmul (82 %) on cuda:0, each at 80 %
/// of its limit or more". The cells are sorted.
std::string bound_words(const std::vector<const matrix_cell*>& cells, const model& m) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by;
  for (const matrix_cell* c : cells) {
    if (!is_near_its_limit(*c->what.ours->fraction)) break;
    under(bound_of(*c->what.ours), by).push_back(told(*c, share_text(*c->what.ours), m));
  }
  std::string text;
  for (const auto& [bound, names] : by)
    text += (text.empty() ? bound + " bounds " : ", " + bound + " ") + listed(names, most_named);
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(text.front()));
  return text + ": at " + percent(near_its_limit) + " of its limit or more";
}

std::string limit_sentence(const std::vector<matrix_cell>& cells, const model& m) {
  std::vector<const matrix_cell*> bounded;
  std::size_t without = 0, with_less = 0, above = 0;
  for (const matrix_cell& c : cells) {
    if (!c.what.ours->ranked()) continue;
    const bool does_less = does_less_than_counted(*c.what.ours), is_above = is_above_unsure_limit(*c.what.ours);
    with_less += does_less;
    above += is_above;
    without += !c.what.ours->fraction;
    if (c.what.ours->fraction && !does_less && !is_above) bounded.push_back(&c);
  }
  if (bounded.empty())
    return above == 0 ? "No limit was measured for a time that can be trusted."
                      : "The times that can be trusted are above a limit in doubt.";
  std::stable_sort(bounded.begin(), bounded.end(), [](const matrix_cell* x, const matrix_cell* y) {
    return *x->what.ours->fraction > *y->what.ours->fraction;
  });
  const auto told_with_bound = [&](const matrix_cell& c) {
    return told(c, share_text(*c.what.ours) + " of what " + bound_of(*c.what.ours) + " allows", m);
  };
  std::string text = bound_words(bounded, m);
  if (text.empty()) text = "No limit is reached; the nearest to it is " + told_with_bound(*bounded.front());
  if (!is_near_its_limit(*bounded.back()->what.ours->fraction) && bounded.size() > 1)
    text += "; the farthest from it is " + told_with_bound(*bounded.back());
  if (without > 0) text += "; " + count(without) + (without == 1 ? " has" : " have") + " no limit measured";
  if (above > 0) text += "; " + count(above) + (above == 1 ? " is" : " are") + " above a limit in doubt";
  if (with_less > 0)
    text += "; " + count(with_less) + (with_less == 1 ? " needs" : " need") + " fewer operations than are counted";
  return text + ".";
}

/// Where a peer is surely ahead at a size, a type or settings that no cell shows. It names the worst case of each
/// algorithm and type on each processor, worst first.
std::vector<std::string> behind_elsewhere(const std::vector<matrix_cell>& cells, const model& m) {
  constexpr std::size_t most_compared = 100'000;  // for one board; real ones have some thousand
  std::set<const row*> shown;
  for (const matrix_cell& c : cells) shown.insert(c.what.ours);
  std::map<std::string, standing> worst;
  for (const panel& p : m.panels) {
    if (!p.data.empty() || p.is_of_jobs()) continue;
    for (const board* b : p.processors()) {
      const std::vector<std::uint64_t> sizes = b->sizes();
      if (sizes.size() * b->all.size() > most_compared) continue;
      for (const std::uint64_t n : sizes) {
        const standing s = standing_at(*b, n);
        if (s.position != position::behind || shown.count(s.ours) != 0) continue;
        const std::string place = p.algorithm + " " + p.dtype + " on " + place_of({.of = &p, .on = b, .what = s}, m);
        const auto [at, is_new] = worst.try_emplace(place, s);
        if (!is_new && s.speed->median < at->second.speed->median) at->second = s;
      }
    }
  }
  std::vector<std::pair<std::string, standing>> sorted(worst.begin(), worst.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& x, const auto& y) { return x.second.speed->median < y.second.speed->median; });
  std::vector<std::string> all;
  for (const auto& [place, s] : sorted)
    all.push_back(place + " (" + factor(s.speed->median) + " × " + short_name(s.peer->variant) + " at " + s.ours->at() +
                  ")");
  return all;
}

bool has_peer(const model& m) {
  const auto is_peer = [](const series& s) { return s.kind == role::peer; };
  for (const panel& p : m.panels)
    for (const board& b : p.boards)
      if (std::any_of(b.all.begin(), b.all.end(), is_peer)) return true;
  return false;
}

/// "sort 2.03 × cpu:vqsort"
std::string speed_words(const matrix_cell& c) {
  return c.of->algorithm + " " + speed_text(c.what) + " × " + short_name(c.what.peer->variant);
}

/// A sentence for each processor: the speeds against the best peers, the greatest first.
std::vector<std::string> speeds_of(const std::vector<matrix_cell>& cells, const model& m) {
  std::vector<std::pair<std::string, std::vector<const matrix_cell*>>> by_place;
  for (const matrix_cell& c : cells) {
    const position is = c.what.position;
    if (is != position::ahead && is != position::on_a_par && is != position::behind) continue;
    under(place_of(c, m), by_place).push_back(&c);
  }
  std::vector<std::string> all;
  for (auto& [place, of] : by_place) {
    const auto speed = [](const matrix_cell* c) { return c->what.at_least.value_or(c->what.speed->median); };
    std::stable_sort(of.begin(), of.end(), [&](auto* x, auto* y) { return speed(x) > speed(y); });
    std::vector<std::string> told;
    for (const matrix_cell* c : of) told.push_back(speed_words(*c));
    all.push_back("Speed against the best other library on " + place + ": " + listed(told, told.size()) + ".");
  }
  return all;
}

std::vector<std::string> peer_sentences(const std::vector<matrix_cell>& cells, const model& m) {
  if (!has_peer(m)) return {"No other library was measured beside ours."};
  std::vector<std::string> all = speeds_of(cells, m), unclear, rounding;
  for (const matrix_cell& c : cells) {
    if (c.what.rounding) rounding.push_back(told(c, rounding_words(c.what), m));
    if (c.what.position == position::unclear || c.what.position == position::in_doubt)
      unclear.push_back(c.of->algorithm + " on " + place_of(c, m));
  }
  const auto say = [&](const std::string& what, const std::vector<std::string>& of) {
    if (!of.empty()) all.push_back(what + ": " + listed(of, most_named) + ".");
  };
  say("Too close or too noisy to say", unclear);
  say("Ahead of ours by rounding its operands", rounding);
  const std::vector<std::string> elsewhere = behind_elsewhere(cells, m);
  say("At other sizes or of other types a peer is ahead in " + count(elsewhere.size()), elsewhere);
  return all;
}

/// "3.13 µs (scan on cuda:0)"
std::string time_words(const matrix_cell& c, const standing& at, const model& m) {
  return marked_time(*at.ours) + " (" + c.of->algorithm + " on " + place_of(c, m) + ")";
}

/// A sentence about the smallest sizes, which no cell shows. Empty if nothing was measured at several sizes.
std::string small_sentence(const std::vector<matrix_cell>& cells, const model& m) {
  std::map<position, std::size_t> positions;
  std::vector<std::pair<standing, const matrix_cell*>> all;
  for (const matrix_cell& c : cells) {
    const standing s = standing_at(*c.on, c.on->sizes().front());
    if (!s.ours || s.ours->n == c.what.ours->n) continue;
    all.emplace_back(s, &c);
    if (s.peer) ++positions[s.position];
  }
  if (all.empty()) return "";
  const auto [shortest, longest] = std::minmax_element(all.begin(), all.end(), [](const auto& x, const auto& y) {
    return x.first.ours->kernel->median < y.first.ours->kernel->median;
  });
  std::string text = "The smallest problems, such as " + shortest->first.ours->at() + ", take from " +
                     time_words(*shortest->second, shortest->first, m) + " to " +
                     time_words(*longest->second, longest->first, m);
  std::vector<std::string> told;
  for (const auto& [which, number] : positions) told.push_back(words_of(which) + (" in " + count(number)));
  return text + (told.empty() ? "." : "; against the best peer ours is " + listed(told, told.size()) + ".");
}

/// How long the copies take that the cells' times do not include, on devices other than CPUs: the smallest and the
/// largest, as multiples of the kernel's time.
std::string transfer_note(const std::vector<matrix_cell>& cells, const model& m) {
  std::vector<std::pair<double, const matrix_cell*>> all;
  for (const matrix_cell& c : cells)
    if (const row& r = *c.what.ours; r.h2d && r.d2h && !is_job(r.mode) && !c.on->computes_on_cpu)
      all.emplace_back((r.h2d->median + r.d2h->median) / r.kernel->median, &c);
  if (all.empty()) return "";
  const auto told = [&](const auto& of) {
    const row& r = *of.second->what.ours;
    const bool is_sure = r.ranked() && r.h2d->is_narrow() && r.d2h->is_narrow();
    return marked(is_sure, factor(of.first)) + " (" + of.second->of->algorithm + " on " + place_of(*of.second, m) + ")";
  };
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return "These are times of kernels, on data that are there. Copies to a device and back take " +
         (least == most ? told(*most) : "from " + told(*least) + " to " + told(*most)) + " times as long.";
}

/// A cell. It repeats the processor's name for narrow screens, which do not show the table's heading.
html cell_html(const std::string& place, const matrix_cell& cell, const std::string& apart) {
  const standing &s = cell.what, &smaller = cell.smaller;
  html words;
  if (s.speed && s.position != position::in_doubt)
    words = tag("strong", html::text(speed_text(s) + " ×")) + " " + html::text(short_name(s.peer->variant)) + ", ";
  words += tag("b", words_of(s.position));
  if (s.ours && s.ours->ranked()) words += tag("div", html::text(bound_and_share(*s.ours)));
  if (s.ours) words += tag("small", html::text(marked_time(*s.ours) + ", " + s.ours->name()));
  if (s.rounding) words += tag("small", html::text(rounding_words(s) + ", which rounds its operands"));
  if (!apart.empty()) words += tag("small", html::text(apart));
  if (!s.why.empty()) words += tag("small", html::text(s.why));
  if (smaller.ours)
    words += tag("small", html::text("at " + smaller.ours->at() + ": " +
                                     (smaller.speed ? speed_text(smaller) + " × " + short_name(smaller.peer->variant) +
                                                          ", " + words_of(smaller.position)
                                                    : share_words(*smaller.ours))));
  return tag("div", {{"class", style_of(s.position)}}, tag("span", {{"class", "place"}}, html::text(place)) + words);
}

/// The matrix. The name of an algorithm links to its section.
html matrix_html(const matrix& of, const anchors& sections) {
  std::vector<std::string> heads{"algorithm and largest problem"};
  heads.insert(heads.end(), of.columns.begin(), of.columns.end());
  std::vector<std::vector<html>> rows;
  for (const matrix::line& l : of.lines) {
    const auto section = sections.find(l.algorithm);
    html name = html::text(l.algorithm);
    if (section != sections.end()) name = tag("a", {{"href", "#" + section->second}}, name);
    auto& line = rows.emplace_back(std::vector<html>{name + tag("small", html::sentence(l.words()))});
    for (std::size_t i = 0; i < of.columns.size(); ++i)
      line.push_back(cell_html(of.columns[i], l.cells[i] ? *l.cells[i] : matrix_cell{}, l.apart[i]));
  }
  return tag("div", {{"class", "matrix"}},
             table("Our fastest variant on each processor, at the largest size of the problem that was measured most",
                   heads, rows, content::words)) +
         tag("p", {{"class", "note"}},
             html::sentence(
                 "2 × is twice as fast as the best other library there, by rounds in which both ran in turns; ≥ is at "
                 "least that, by the ends of both times. "
                 "The share is of what the device’s own copy, its multiply-adds (fma if fused, else muladd) or "
                 "a launch allow, whichever is least; from " +
                 percent(near_its_limit) +
                 " on, that is what bounds it. What only reads may beat the copy. ? marks what is too noisy "
                 "to quote.")) +
         left_out(of.unsaid, "processors");
}

html ranks_note(const std::vector<const panel*>& panels) {
  const auto has_ranks = [](const panel* p) { return p->processors().size() < p->boards.size(); };
  if (std::none_of(panels.begin(), panels.end(), has_ranks)) return {};
  return tag("p", {{"class", "note"}},
             "Ranks on a CPU have no column; how programs scale on them stands further down.");
}

/// How many times cannot be trusted, and what to do about it.
std::string doubt_note(const model& m) {
  time_counts all;
  for (const panel& p : m.panels) {
    const time_counts of = counts_of(p);
    all.times += of.times;
    all.in_doubt += of.in_doubt;
  }
  if (all.in_doubt == 0) return "";
  return count(all.in_doubt) + " of " + count(all.times) +
         " times are in doubt: they have no interval, one wider than ± 5 %, or cannot be true. A quiet machine and a "
         "longer run help, such as tilewise bench --preset normal.";
}

/// The notes; folded if there are many.
html noted(const std::vector<html>& notes) {
  constexpr std::size_t most_open = 4;
  if (notes.empty()) return {};
  const html all = list("ul", {{"class", "note"}}, notes);
  return notes.size() <= most_open ? all : folded(count(notes.size()) + " notes on the machine and the records", all);
}

}  // namespace

html overview(const model& m, const anchors& sections) {
  const std::vector<const panel*> panels = matrix_panels(m);
  const std::vector<matrix_cell> measured = cells_of(panels, other_panels(m, panels));
  const matrix made = make_matrix(measured);
  const std::vector<matrix_cell> cells = made.shown();
  html whole = machine_lines(m, panels);
  std::vector<html> verdict;
  if (!cells.empty()) {
    std::vector<std::string> sentences = peer_sentences(cells, m);
    for (const std::string& sentence : {fastest_sentence(made, m), limit_sentence(cells, m), small_sentence(cells, m)})
      if (!sentence.empty()) sentences.push_back(sentence);
    for (const std::string& sentence : sentences) verdict.push_back(html::sentence(sentence));
  }
  if (!verdict.empty()) whole += list("ul", {{"class", "verdict"}}, verdict);
  whole += tag("p", {{"class", any_wrong(m) ? "bits wrong" : "bits"}},
               html::sentence(bits_finding(m)) + " " + tag("a", {{"href", "#order"}}, "What that means."));
  if (!cells.empty()) whole += matrix_html(made, sections) + ranks_note(panels);
  for (const std::string& note : {transfer_note(cells, m), doubt_note(m)})
    if (!note.empty()) whole += tag("p", {{"class", "note"}}, html::sentence(note));
  std::vector<html> notes;
  for (const auto& texts : {m.warnings, machine_notes(m), change_findings(m)})
    for (const std::string& text : texts) notes.push_back(html::sentence(text));
  return whole + noted(notes);
}

}  // namespace tilewise::report
