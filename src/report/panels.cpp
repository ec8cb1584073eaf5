// SPDX-License-Identifier: Apache-2.0
// Sorts rows into panels. Takes linear time except for sorting, and limits sizes where the page has limits.
#include "report/format.hpp"
#include "report/roofline/roofline.hpp"

#include "registry/catalog.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace tilewise::report {

namespace {

using row_list = std::vector<const row*>;

role role_of(const row& r) {
  if (r.is_limit()) return role::limit;
  if (r.is_serial()) return role::serial;
  return r.peer ? role::peer : role::tilewise;
}

/// The data, if it needs a panel of its own: a document's inputs give other results, and sorted keys are another
/// problem.
std::string data_apart(const row& r) {
  const bool is_apart = r.data == "seeds" || r.data == "sorted" || r.data == "reversed";
  return is_apart ? r.data : r.asked_data;
}

/// All that is equal within a panel. A copy belongs to the problem of its group.
using panel_key =
    std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, std::string, std::string>;
panel_key key_of(const row& of_problem, const row& r) {
  return {of_problem.machine,      of_problem.algorithm,   of_problem.dtype,      of_problem.settings,
          shape_apart(of_problem), data_apart(of_problem), of_problem.asked_data, r.mode};
}

auto case_on_machine(const row& r) { return std::tuple_cat(std::tie(r.machine), case_key(r)); }

row_list last_of_each_case(model& m) {
  std::map<decltype(case_on_machine(std::declval<const row&>())), std::size_t> last;
  for (std::size_t i = 0; i < m.rows.size(); ++i) last[case_on_machine(m.rows[i])] = i;
  row_list kept;
  for (std::size_t i = 0; i < m.rows.size(); ++i)
    if (last[case_on_machine(m.rows[i])] == i) kept.push_back(&m.rows[i]);
  if (const std::size_t again = m.rows.size() - kept.size(); again > 0)
    m.warnings.push_back(count(again) + (again == 1 ? " record repeats a case" : " records repeat cases") +
                         " that a later record measured again; the later one is shown.");
  return kept;
}

/// The list's entry for a key; appended if there is none.
template <class T, class Key>
T& found_or_added(std::vector<T>& list, std::map<Key, std::size_t>& known, const Key& key) {
  const auto [at, is_new] = known.emplace(key, list.size());
  return is_new ? list.emplace_back() : list[at->second];
}

/// Whether a variant was run with several numbers of threads, or with several tunings, on one device at one size.
struct attempts {
  std::uint64_t threads;
  std::string_view tuning;
  bool several_threads = false, several_tunings = false;
};
using attempts_key = std::tuple<std::uint64_t, std::string_view, std::string_view>;

/// The threads or tuning, which is part of a series' name only if there are several.
std::string detail_of(const row& r, const attempts& all) {
  std::string detail;
  if (all.several_threads) detail += " " + std::to_string(r.threads) + " threads";
  if (all.several_tunings && !r.tuning.empty()) detail += " " + r.tuning;
  return detail;
}

/// The key of a row's series within a board. Our variants have a series for each device, so that executors can be
/// compared. Serial code, peers and the copy have one series each, whichever device they were measured with.
using series_key = std::tuple<std::string_view, std::string, std::string_view>;

struct place {
  const row* what;
  std::string detail;

  std::string_view board() const { return what->is_cpu ? std::string_view("cpu") : what->device; }
  series_key line() const {
    return {what->variant, detail, role_of(*what) == role::tilewise ? what->device : std::string_view()};
  }
};

std::vector<place> places_of(const row_list& rows) {
  const auto key = [](const row& r) { return attempts_key{r.n, r.variant, r.device}; };
  std::map<attempts_key, attempts> tried;
  for (const row* r : rows) {
    attempts& all = tried.try_emplace(key(*r), attempts{r->threads, r->tuning}).first->second;
    all.several_threads |= all.threads != r->threads;
    all.several_tunings |= all.tuning != r->tuning;
  }
  std::vector<place> places;
  for (const row* r : rows) places.push_back({r, detail_of(*r, tried.at(key(*r)))});
  return places;
}

/// Keeps the first boards and series and the largest sizes, since each table has a cell for each series at each size.
void keep_within_page(std::vector<place>& places) {
  std::map<std::string_view, std::set<series_key>> boards;
  std::size_t lines = 0;
  std::erase_if(places, [&](const place& p) {
    if (!boards.contains(p.board()) && boards.size() == page_limits::boards) return true;
    std::set<series_key>& known = boards[p.board()];
    if (known.size() == page_limits::series && !known.contains(p.line())) return true;
    lines += known.insert(p.line()).second;
    return false;
  });
  std::set<std::uint64_t> sizes;
  for (const place& p : places) sizes.insert(p.what->n);
  const std::size_t shown = std::max<std::size_t>(1, page_limits::cells / lines);
  if (sizes.size() <= shown) return;
  const std::uint64_t smallest = *std::next(sizes.rbegin(), static_cast<std::ptrdiff_t>(shown) - 1);
  std::erase_if(places, [&](const place& p) { return p.what->n < smallest; });
}

/// Labels the series: "cuda:lookback", "cpu:packed @cpu:threads". The device is named only if it is needed.
void label_series(board& b) {
  std::map<std::string_view, std::set<std::string_view>> devices_of;
  for (const series& s : b.all) devices_of[s.variant].insert(s.device);
  for (series& s : b.all) {
    const std::string tail = s.kind == role::limit ? s.rows.front()->algorithm : short_name(s.variant);
    const bool one_device = devices_of[s.variant].size() == 1;
    const std::string name = one_device ? tail : name_on(tail, s.device);
    s.label = clipped(name + s.detail, page_limits::name) + (s.kind == role::peer ? " (peer)" : "");
  }
}

/// Orders rows by size. Of several rows of one size the fastest comes first, and series::at returns it.
bool comes_first(const row* x, const row* y) {
  if (x->n != y->n) return x->n < y->n;
  if (x->ranked() != y->ranked()) return x->ranked();
  return x->ranked() && x->kernel->median < y->kernel->median;
}

/// Drops limits at sizes where they bound nothing. A row bound by reading or by a launch is shown against memory.
void drop_loose_limits(board& b) {
  std::set<std::pair<std::string_view, std::uint64_t>> bounds;
  for (const series& s : b.all)
    for (const row* r : s.rows)
      if (s.kind != role::limit && r->bound_by)
        bounds.emplace(name_of(record::is_arithmetic(*r->bound_by) ? *r->bound_by : record::ceiling::copy), r->n);
  for (series& s : b.all)
    if (s.kind == role::limit)
      std::erase_if(s.rows, [&](const row* r) { return !bounds.contains({r->algorithm, r->n}); });
  std::erase_if(b.all, [](const series& s) { return s.rows.empty(); });
}

void sort_panel(panel& p) {
  std::stable_sort(p.boards.begin(), p.boards.end(),
                   [](const board& a, const board& b) { return a.is_cpu > b.is_cpu; });
  for (board& b : p.boards) drop_loose_limits(b);
  std::erase_if(p.boards, [](const board& b) { return b.all.empty(); });
  for (board& b : p.boards) {
    label_series(b);
    std::stable_sort(b.all.begin(), b.all.end(), [](const series& x, const series& y) { return x.kind < y.kind; });
    for (series& s : b.all) std::stable_sort(s.rows.begin(), s.rows.end(), comes_first);
  }
}

void fill(panel& p, const std::vector<place>& places) {
  std::map<std::string_view, std::size_t> boards;
  std::map<std::string_view, std::map<series_key, std::size_t>> lines;
  for (const place& at : places) {
    const row& r = *at.what;
    board& on = found_or_added(p.boards, boards, at.board());
    on.name = clipped(at.board(), page_limits::name);
    on.is_cpu = r.is_cpu;
    on.is_group = r.hardware.backend == "group";
    on.computes_on_cpu = r.hardware.is_cpu;
    on.speed_in = unit_of(p.algorithm);
    if (on.title.empty()) on.title = clipped(r.hardware.description, page_limits::name);
    series& line = found_or_added(on.all, lines[at.board()], at.line());
    if (line.rows.empty()) {
      line.variant = r.variant;
      line.device = r.device;
      line.detail = at.detail;
      line.kind = role_of(r);
    }
    line.rows.push_back(&r);
  }
  sort_panel(p);
}

std::string title_of(const panel& p, bool names_machine) {
  const std::string settings = with_data(shown_settings(p.settings), p.asked_data);
  std::string title = p.algorithm + " " + p.dtype + (settings.empty() ? "" : ", " + settings);
  if (!p.shape.empty()) title += ", " + p.shape;
  if (p.asked_data.empty() && !p.data.empty()) title += p.data == "seeds" ? ", a document's inputs" : ", " + p.data;
  if (p.mode == "cold") title += ", cold caches";
  if (p.mode == "file_to_file") title += ", from file to file";
  if (p.mode == "host_to_host") title += ", from host memory to host memory";
  return title + (names_machine ? ", on " + p.machine : "");
}

struct part {
  panel_key key;
  row_list members;
};

std::vector<part> parts_of(const row_list& rows) {
  using group_key = std::tuple<std::string_view, std::string_view, std::string_view>;
  const auto group_of = [](const row& r) { return group_key{r.machine, r.group, r.asked_data}; };
  std::map<group_key, const row*> problem_of;  // the first row of a group that is not a copy
  for (const row* r : rows)
    if (!r->is_limit()) problem_of.emplace(group_of(*r), r);
  std::vector<part> parts;
  std::map<panel_key, std::size_t> known;
  for (const row* r : rows) {
    const auto problem = problem_of.find(group_of(*r));
    if (problem == problem_of.end()) continue;  // a copy without other rows
    const panel_key key = key_of(*problem->second, *r);
    part& p = found_or_added(parts, known, key);
    p.key = key;
    p.members.push_back(r);
  }
  return parts;
}

/// Keeps the fullest panels, in their order.
void keep_fullest(std::vector<part>& parts) {
  if (parts.size() <= page_limits::panels) return;
  std::vector<std::size_t> sizes;
  for (const part& p : parts) sizes.push_back(p.members.size());
  std::nth_element(sizes.begin(), sizes.begin() + (page_limits::panels - 1), sizes.end(), std::greater<>());
  const std::size_t least = sizes[page_limits::panels - 1];
  std::size_t as_full =
      page_limits::panels - static_cast<std::size_t>(std::count_if(sizes.begin(), sizes.end(),
                                                                   [&](std::size_t size) { return size > least; }));
  std::erase_if(parts, [&](const part& p) {
    if (p.members.size() != least) return p.members.size() < least;
    return as_full == 0 || as_full-- == 0;
  });
}

/// Whether no document asked for the row. Documents ask for many rows at unusual sizes, by which nobody would compare
/// machines.
bool is_of_no_document(const row* r) { return r->experiment == nullptr && r->course == nullptr; }

/// Returns how many results did not fit.
std::size_t make_panels(const row_list& rows, model& m) {
  std::vector<part> parts = parts_of(rows);
  const auto results = [&] {
    return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                           [](std::size_t sum, const part& p) { return sum + p.members.size(); });
  };
  std::size_t left_out = results();
  keep_fullest(parts);
  left_out -= results();
  for (const auto& [key, members] : parts) {
    panel& p = m.panels.emplace_back();
    std::tie(p.machine, p.algorithm, p.dtype, p.settings, p.shape, p.data, p.asked_data, p.mode) = key;
    p.title = title_of(p, m.machines.size() > 1);
    p.results = members.size();
    p.of_no_document = static_cast<std::size_t>(std::count_if(members.begin(), members.end(), is_of_no_document));
    for (const row* r : members) p.operations = std::max(p.operations, r->is_limit() ? 0 : r->operations);
    std::vector<place> places = places_of(members);
    keep_within_page(places);
    left_out += members.size() - places.size();
    fill(p, places);
  }
  return left_out;
}

/// Algorithms stay in the order of the records. Within each, the fullest panel comes first; of equally full ones, the
/// one with the largest problem.
void sort_panels(std::vector<panel>& panels) {
  std::map<std::string, std::size_t> place_of;
  for (const panel& p : panels) place_of.emplace(p.algorithm, place_of.size());
  std::stable_sort(panels.begin(), panels.end(), [&](const panel& a, const panel& b) {
    const std::size_t x = place_of[a.algorithm], y = place_of[b.algorithm];
    return x != y ? x < y : std::pair(a.results, a.operations) > std::pair(b.results, b.operations);
  });
}

/// The rows of each machine, in the order of appearance. Rows of machines beyond the page's limit are left out.
row_list of_shown_machines(const row_list& rows, model& m) {
  std::set<std::string_view> seen;
  for (const row& r : m.rows)
    if (m.machines.size() < page_limits::machines && seen.insert(r.machine).second) m.machines.push_back(r.machine);
  row_list kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept),
               [&](const row* r) { return seen.contains(r->machine); });
  return kept;
}

}  // namespace

model make_model(row_table rows) {
  hold_against_roofs(rows);
  model m{std::move(rows), {}, {}, {}};
  const row_list cases = last_of_each_case(m);
  const row_list placed = of_shown_machines(cases, m);
  const std::size_t left_out = cases.size() - placed.size() + make_panels(placed, m);
  sort_panels(m.panels);
  if (left_out > 0)
    m.warnings.push_back(count(left_out) + " results are in no table of this page: it shows at most " +
                         count(page_limits::machines) + " machines, " + count(page_limits::panels) + " problems, " +
                         count(page_limits::boards) + " processors of a problem, " + count(page_limits::series) +
                         " variants on each, and of many sizes the largest; --csv has them all.");
  return m;
}

}  // namespace tilewise::report
