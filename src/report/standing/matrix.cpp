// SPDX-License-Identifier: Apache-2.0
#include "report/standing/matrix.hpp"

#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/page_builder.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tilewise::report {

namespace {

/// "cuda · NVIDIA H200" for cuda:0.
std::string kind_of(const board& b) {
  const std::string kind = b.name.substr(0, b.name.find(':'));
  return b.title.empty() ? kind : kind + " · " + b.title;
}
/// The name with the hardware. The hardware is named once, even if it distinguishes boards of one name.
std::string full_name(const board& b) {
  const bool has_it = b.title.empty() || b.name.ends_with(" (" + b.title + ")");
  return has_it ? b.name : b.name + " · " + b.title;
}

/// Names the columns of boards. Boards of one kind share a column, since a run may have numbered the same device
/// differently.
class column_names {
 public:
  explicit column_names(const std::vector<matrix_cell>& cells) {
    std::map<std::string, std::set<std::string>> names;
    std::map<std::pair<std::string, std::string>, std::set<std::string>> by_command;
    for (const matrix_cell& c : cells) {
      const std::string kind = kind_of(*c.on);
      names[kind].insert(c.on->name);
      for (const series& s : c.on->all)
        for (const row* r : s.rows) by_command[{r->command, kind}].insert(c.on->name);
    }
    for (const auto& [of, beside_each_other] : by_command)
      if (beside_each_other.size() > 1) apart_.insert(of.second);
    for (const auto& [kind, of_kind] : names)
      if (of_kind.size() == 1) apart_.insert(kind);
  }
  std::string of(const board& b) const { return apart_.count(kind_of(b)) != 0 ? full_name(b) : kind_of(b); }

 private:
  std::set<std::string> apart_;  // kinds whose boards have separate columns
};

/// Whether most boards are ranks on the CPU: then the panel shows scaling.
bool is_of_scaling(const panel& p) { return 2 * p.processors().size() < p.boards.size(); }

/// Orders by problem size, and equal sizes by time: larger first, then faster first.
bool ranks_lower(const matrix_cell& a, const matrix_cell& b) {
  const auto key = [](const matrix_cell& c) { return std::tuple(c.what.ours->operations, c.what.ours->n, -c.time()); };
  return key(a) < key(b);
}

struct cells_of_line {
  std::vector<const panel*> panels;
  std::map<std::string, const matrix_cell*> by_column;
  std::map<std::string, const matrix_cell*> others = {};  // by column, from other problems

  const matrix_cell& fastest() const {
    const auto is_less = [](const auto& a, const auto& b) { return ranks_lower(*a.second, *b.second); };
    return *std::max_element(by_column.begin(), by_column.end(), is_less)->second;
  }
};

/// Whether the panel's problem belongs on the line, and its columns are free there.
bool fits(const cells_of_line& line, const panel& p, const std::map<std::string, const matrix_cell*>& cells) {
  const panel& first = *line.panels.front();
  const bool same = p.algorithm == first.algorithm && p.dtype == first.dtype && p.settings == first.settings &&
                    p.has_data_of(first) && p.is_of_jobs() == first.is_of_jobs() &&
                    p.machine != line.panels.back()->machine;
  const auto is_taken = [&](const auto& column) { return line.by_column.count(column.first) != 0; };
  return same && std::none_of(cells.begin(), cells.end(), is_taken);
}

std::vector<cells_of_line> lines_of(const std::vector<matrix_cell>& cells) {
  std::vector<cells_of_line> lines;
  const auto has_line_of = [&](const std::string& algorithm) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const auto& l) { return l.panels.front()->algorithm == algorithm; });
  };
  for (auto begin = cells.begin(); begin != cells.end() && !begin->is_of_other;) {
    const panel& p = *begin->of;
    std::map<std::string, const matrix_cell*> by_column;
    for (; begin != cells.end() && begin->of == &p; ++begin) {
      const matrix_cell*& shown = by_column.emplace(begin->column, &*begin).first->second;
      if (ranks_lower(*shown, *begin)) shown = &*begin;
    }
    auto at = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return fits(line, p, by_column); });
    if (at == lines.end() && is_of_scaling(p) && has_line_of(p.algorithm)) continue;
    if (at == lines.end()) at = lines.emplace(lines.end());
    at->panels.push_back(&p);
    at->by_column.merge(by_column);
  }
  return lines;
}

/// Fills columns in which no line of the algorithm has a cell, with the largest of the algorithm's other problems
/// there.
void add_others(std::vector<cells_of_line>& lines, const std::vector<matrix_cell>& cells,
                const std::vector<std::string>& columns) {
  using place = std::pair<std::string_view, std::string_view>;  // algorithm, column
  std::map<place, const matrix_cell*> largest;
  for (const matrix_cell& c : cells) {
    if (!c.is_of_other) continue;
    const matrix_cell*& known = largest[{c.of->algorithm, c.column}];
    if (!known || ranks_lower(*known, c)) known = &c;
  }
  std::set<place> shown;
  for (const cells_of_line& line : lines)
    for (const auto& [column, cell] : line.by_column) shown.emplace(line.panels.front()->algorithm, column);
  for (cells_of_line& line : lines)
    for (const std::string& column : columns) {
      const auto other = largest.find({line.panels.front()->algorithm, column});
      if (other != largest.end() && shown.insert(other->first).second) line.others.emplace(column, other->second);
    }
}

matrix::line shown(const cells_of_line& line, const std::vector<std::string>& columns) {
  const panel& first = *line.panels.front();
  const matrix_cell& fastest = line.fastest();
  const std::string size = fastest.what.ours->at();
  matrix::line made{first.algorithm,
                    words_of(first) + ", " + size + (first.is_of_jobs() ? ", whole jobs" : ""),
                    line.panels.size() == 1 ? fastest.machine : "",
                    &fastest,
                    {},
                    {}};
  for (const std::string& column : columns) {
    const auto at = line.by_column.find(column), other = line.others.find(column);
    const bool is_other = at == line.by_column.end();
    const matrix_cell* cell = made.cells.emplace_back(!is_other                    ? at->second
                                                      : other == line.others.end() ? nullptr
                                                                                   : other->second);
    std::string& apart = made.apart.emplace_back();
    if (!cell) continue;
    if (is_other) apart = "another problem: " + words_of(*cell->of) + ", ";
    if (is_other || cell->what.ours->at() != size) apart += (is_other ? "" : "at ") + cell->what.ours->at();
    if (!cell->machine.empty() && cell->machine != made.machine)
      apart += (apart.empty() ? "on " : " on ") + cell->machine;
  }
  return made;
}

}  // namespace

std::string words_of(const panel& p) {
  const std::string settings = with_data(shown_settings(p.settings), p.asked_data);
  return p.dtype + (settings.empty() ? "" : " " + settings);
}

std::vector<const panel*> matrix_panels(const model& m) {
  std::vector<const panel*> all = main_panels(m), kept;
  const auto same = [](const panel* x, const panel* y) {
    return x != y && x->algorithm == y->algorithm && x->machine == y->machine && !y->is_of_jobs();
  };
  for (const panel* p : all)
    if (!p->is_of_jobs() || std::none_of(all.begin(), all.end(), [&](const panel* q) { return same(p, q); }))
      kept.push_back(p);
  std::map<std::string_view, std::size_t> place_of;
  for (const panel* p : kept) place_of.emplace(p->algorithm, place_of.size());
  std::stable_sort(kept.begin(), kept.end(), [&](const panel* x, const panel* y) {
    const std::size_t a = place_of[x->algorithm], b = place_of[y->algorithm];
    return std::tuple(a, is_of_scaling(*x), -x->operations) < std::tuple(b, is_of_scaling(*y), -y->operations);
  });
  return kept;
}

std::vector<const panel*> other_panels(const model& m, const std::vector<const panel*>& main) {
  std::vector<const panel*> others;
  for (const panel& p : m.panels)
    if (p.data.empty() && !p.is_of_jobs() && !is_of_scaling(p) && std::find(main.begin(), main.end(), &p) == main.end())
      others.push_back(&p);
  return others;
}

std::vector<matrix_cell> cells_of(const std::vector<const panel*>& panels, const std::vector<const panel*>& others) {
  std::vector<matrix_cell> all;
  const auto add = [&](const panel* p, bool is_of_other) {
    for (const board* b : p->processors())
      if (const standing s = standing_of(*b); s.ours)
        all.push_back({.of = p,
                       .on = b,
                       .what = s,
                       .smaller = s.position == position::in_doubt ? largest_trusted(*b) : standing{},
                       .is_of_other = is_of_other});
  };
  for (const panel* p : panels) add(p, false);
  for (const panel* p : others) add(p, true);
  const column_names names(all);
  std::map<std::string, std::set<std::string>> machines;
  for (matrix_cell& c : all) machines[c.column = names.of(*c.on)].insert(c.of->machine);
  for (matrix_cell& c : all)
    if (machines[c.column].size() > 1) c.machine = c.of->machine;
  return all;
}

matrix make_matrix(const std::vector<matrix_cell>& cells) {
  constexpr std::size_t most_columns = 8;
  std::vector<cells_of_line> lines = lines_of(cells);
  std::map<std::string, std::pair<std::size_t, std::size_t>> worth;  // by column: fastest cells, and all cells
  matrix made;
  for (const matrix_cell& c : cells) {
    if (c.is_of_other) continue;
    if (worth.count(c.column) == 0) made.columns.push_back(c.column);
    ++worth[c.column].second;
  }
  for (const cells_of_line& line : lines) ++worth[line.fastest().column].first;
  std::stable_sort(made.columns.begin(), made.columns.end(),
                   [&](const std::string& x, const std::string& y) { return worth[x] > worth[y]; });
  made.unsaid = made.columns.size() - std::min(made.columns.size(), most_columns);
  made.columns.resize(made.columns.size() - made.unsaid);
  add_others(lines, cells, made.columns);
  for (const cells_of_line& line : lines) made.lines.push_back(shown(line, made.columns));
  return made;
}

std::vector<matrix_cell> matrix::shown() const {
  std::vector<matrix_cell> all;
  for (const line& l : lines)
    for (const matrix_cell* c : l.cells)
      if (c) all.push_back(*c);
  return all;
}

std::string share_words(const row& r) {
  if (does_less_than_counted(r)) return "fewer operations than are counted";
  if (is_above_unsure_limit(r)) return "its limit is in doubt";
  return r.fraction ? share_text(r) + " of " + std::string(name_of(*r.bound_by)) : "no limit measured";
}

std::string bound_and_share(const row& r) {
  const bool is_near = is_near_its_limit(r.fraction.value_or(0)) && !is_above_unsure_limit(r);
  if (!is_near || does_less_than_counted(r) || is_job(r.mode)) return share_words(r);
  return std::string(bound_word(*r.bound_by)) + "-bound, " + share_words(r);
}

}  // namespace tilewise::report
