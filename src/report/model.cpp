#include "report/model.hpp"

#include "registry/catalog.hpp"
#include "report/format.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tilewise::report {

namespace {

role role_of(const row& r) {
  if (r.is_limit()) return role::limit;
  if (r.is_serial()) return role::serial;
  return r.peer ? role::peer : role::tilewise;
}

/// Time against n would mix shapes: only squares and cubes of all sizes belong together.
std::string shape_apart(const row& r) {
  const std::string side = std::to_string(r.n);
  for (const std::string& equal : {side, side + "x" + side, side + "x" + side + "x" + side})
    if (r.shape == equal) return "";
  return r.shape;
}

speed_unit unit_of(const std::string& algorithm) {
  for (const registry::algorithm* known : registry::algorithms())
    if (known->name == algorithm) return known->speed_in;
  return speed_unit::bytes;
}

/// A document's own inputs give other results.
std::string data_apart(const row& r) { return r.data == "seeds" ? r.data : ""; }

/// What is fixed within a panel. A copy belongs to the problem of its group.
using panel_key = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, std::string>;
panel_key key_of(const row& of_problem, const row& r) {
  return {of_problem.machine,
          of_problem.algorithm,
          of_problem.dtype,
          of_problem.settings,
          shape_apart(of_problem),
          data_apart(of_problem),
          r.mode};
}

/// One case; a later record of it replaces an earlier one.
auto case_key(const row& r) { return std::tie(r.machine, r.group, r.variant, r.device, r.tuning, r.threads, r.mode); }

std::vector<const row*> last_of_each_case(model& m) {
  std::map<decltype(case_key(std::declval<const row&>())), std::size_t> last;
  for (std::size_t i = 0; i < m.rows.size(); ++i) last[case_key(m.rows[i])] = i;
  std::vector<const row*> kept;
  for (std::size_t i = 0; i < m.rows.size(); ++i)
    if (last[case_key(m.rows[i])] == i) kept.push_back(&m.rows[i]);
  if (const std::size_t again = m.rows.size() - kept.size(); again > 0)
    m.warnings.push_back(count(again) + (again == 1 ? " record repeats a case" : " records repeat cases") +
                         " that a later record measured again; the later one is shown.");
  return kept;
}

template <class T, class Matches>
T& found_or_added(std::vector<T>& list, Matches matches) {
  const auto found = std::find_if(list.begin(), list.end(), matches);
  return found == list.end() ? list.emplace_back() : *found;
}

/// Threads or tuning are part of a series' name only where one variant was run with several at one size.
std::string detail_of(const row& r, const std::vector<const row*>& of_one_size) {
  std::string detail;
  const auto twin = [&](const row* other) {
    return other != &r && other->variant == r.variant && other->device == r.device;
  };
  for (const row* other : of_one_size) {
    if (!twin(other)) continue;
    if (other->threads != r.threads && detail.find("threads") == std::string::npos)
      detail += " " + std::to_string(r.threads) + " threads";
    if (other->tuning != r.tuning && detail.find(r.tuning) == std::string::npos) detail += " " + r.tuning;
  }
  return detail;
}

/// Series of a board: our variants by device, so that executors can be told apart. Serial code, other people's and the
/// copy are one line each, no matter which device's rounds they were measured in.
bool belongs(const row& r, const std::string& detail, const series& to) {
  return to.variant == r.variant && to.detail == detail && (to.device == r.device || to.kind != role::tilewise);
}

void place(const row& r, const std::vector<const row*>& of_one_size, panel& p) {
  const std::string name = r.is_cpu ? "cpu" : r.device;
  board& on = found_or_added(p.boards, [&](const board& b) { return b.name == name; });
  on.name = name;
  on.is_cpu = r.is_cpu;
  on.speed_in = unit_of(p.algorithm);
  if (on.title.empty()) on.title = r.result->device.description;
  const std::string detail = detail_of(r, of_one_size);
  series& line = found_or_added(on.all, [&](const series& s) { return belongs(r, detail, s); });
  if (line.rows.empty()) {
    line.variant = r.variant;
    line.device = r.device;
    line.detail = detail;
    line.kind = role_of(r);
  }
  line.rows.push_back(&r);
}

/// "cpu:openmp", "cuda:lookback", "cpu:tbb @ cpu:tbb": the device only where it adds information.
void label_series(board& b) {
  for (series& s : b.all) {
    const std::string tail = s.kind == role::limit ? s.rows.front()->algorithm : short_name(s.variant);
    const bool one_device = std::all_of(b.all.begin(), b.all.end(), [&](const series& other) {
      return other.variant != s.variant || other.device == s.device;
    });
    const std::string name = one_device ? tail : s.device.starts_with(tail + ":") ? s.device : tail + " @ " + s.device;
    s.label = name + s.detail + (s.kind == role::peer ? " (peer)" : "");
  }
}

/// By size; among several of one size the fastest first, which is the one that series::at returns.
bool comes_first(const row* x, const row* y) {
  if (x->n != y->n) return x->n < y->n;
  if (x->ranked() != y->ranked()) return x->ranked();
  return x->ranked() && x->kernel->median < y->kernel->median;
}

void sort_panel(panel& p) {
  std::stable_sort(p.boards.begin(), p.boards.end(),
                   [](const board& a, const board& b) { return a.is_cpu > b.is_cpu; });
  for (board& b : p.boards) {
    label_series(b);
    std::stable_sort(b.all.begin(), b.all.end(), [](const series& x, const series& y) { return x.kind < y.kind; });
    for (series& s : b.all) std::stable_sort(s.rows.begin(), s.rows.end(), comes_first);
  }
}

void make_panels(const std::vector<const row*>& rows, model& m) {
  std::map<std::string, const row*> problem_of;  // the group's first row that is not a copy
  for (const row* r : rows)
    if (!r->is_limit()) problem_of.emplace(r->machine + "\n" + r->group, r);
  std::vector<std::pair<panel_key, std::vector<const row*>>> parts;
  for (const row* r : rows) {
    const auto problem = problem_of.find(r->machine + "\n" + r->group);
    if (problem == problem_of.end()) continue;  // a copy with nothing beside it limits nothing
    const panel_key key = key_of(*problem->second, *r);
    auto& part = found_or_added(parts, [&](const auto& have) { return have.first == key; });
    part.first = key;
    part.second.push_back(r);
  }
  for (const auto& [key, members] : parts) {
    panel& p = m.panels.emplace_back();
    std::tie(p.machine, p.algorithm, p.dtype, p.settings, p.shape, p.data, p.mode) = key;
    p.title = p.algorithm + " " + p.dtype + (p.settings.empty() ? "" : ", " + p.settings);
    if (!p.shape.empty()) p.title += ", " + p.shape;
    if (!p.data.empty()) p.title += ", a document's inputs";
    if (p.mode == "cold") p.title += ", cold caches";
    if (m.machines.size() > 1) p.title += ", on " + p.machine;
    std::map<std::uint64_t, std::vector<const row*>> by_size;
    for (const row* r : members) by_size[r->n].push_back(r);
    for (const row* r : members) place(*r, by_size[r->n], p);
    p.results = members.size();
    sort_panel(p);
  }
}

/// Algorithms stay in the order of the records; within each, the fullest panel comes first.
void sort_panels(std::vector<panel>& panels) {
  std::vector<std::string> order;
  for (const panel& p : panels)
    found_or_added(order, [&](const std::string& s) { return s == p.algorithm; }) = p.algorithm;
  const auto place_of = [&](const panel& p) { return std::find(order.begin(), order.end(), p.algorithm); };
  std::stable_sort(panels.begin(), panels.end(), [&](const panel& a, const panel& b) {
    return place_of(a) != place_of(b) ? place_of(a) < place_of(b) : a.results > b.results;
  });
}

}  // namespace

const row* series::at(std::uint64_t n) const {
  const auto found = std::partition_point(rows.begin(), rows.end(), [&](const row* r) { return r->n < n; });
  return found == rows.end() || (*found)->n != n ? nullptr : *found;
}

std::vector<std::uint64_t> board::sizes() const {
  std::set<std::uint64_t> all_sizes;
  for (const series& s : all)
    for (const row* r : s.rows) all_sizes.insert(r->n);
  return {all_sizes.begin(), all_sizes.end()};
}

speed_unit board::unit() const {
  const bool all_have_it = std::all_of(all.begin(), all.end(), [&](const series& s) {
    const auto shown = s.measured();
    return std::all_of(shown.begin(), shown.end(), [&](const row* r) { return r->throughput(speed_in).has_value(); });
  });
  return all_have_it ? speed_in : speed_unit::elements;
}

std::string board::size_at(std::uint64_t n) const {
  for (const series& s : all)
    if (const row* r = s.at(n)) return r->size();
  return count(n);
}

std::uint64_t board::common_size() const {
  const std::vector<std::uint64_t> every = sizes();
  const auto has_say = [&](const series& s) { return s.measured().size() * 2 > every.size(); };
  const auto ranked_at = [](const series& s, std::uint64_t n) { return s.at(n) && s.at(n)->ranked(); };
  std::uint64_t best = 0;
  std::size_t most = 0;
  for (const std::uint64_t n : every) {
    std::size_t ranked = 0;
    for (const series& s : all) ranked += has_say(s) && ranked_at(s, n);
    if (ranked < most) continue;
    most = ranked;
    best = n;
  }
  return best;
}

const series* board::fastest(role kind, std::uint64_t n) const {
  const series* best = nullptr;
  for (const series& s : all) {
    const row* r = s.kind == kind ? s.at(n) : nullptr;
    if (r && r->ranked() && (!best || r->kernel->median < best->at(n)->kernel->median)) best = &s;
  }
  return best;
}

std::vector<const row*> series::measured() const {
  std::vector<const row*> shown;
  for (const row* r : rows)
    if (r->timed() && (shown.empty() || shown.back()->n != r->n)) shown.push_back(r);
  return shown;
}

const series* panel::serial() const {
  for (const board& b : boards)
    for (const series& s : b.all)
      if (s.kind == role::serial) return &s;
  return nullptr;
}

const board* panel::cpu() const { return !boards.empty() && boards.front().is_cpu ? &boards.front() : nullptr; }

std::set<std::uint64_t> panel::sizes() const {
  std::set<std::uint64_t> all;
  for (const board& b : boards)
    for (const std::uint64_t n : b.sizes()) all.insert(n);
  return all;
}

std::string panel::size_at(std::uint64_t n) const {
  for (const board& b : boards)
    for (const series& s : b.all)
      if (const row* r = s.at(n)) return r->size();
  return count(n);
}

std::vector<const panel*> main_panels(const model& of) {
  std::vector<const panel*> first;
  std::set<std::pair<std::string, std::string>> seen;
  for (const bool of_document : {false, true})
    for (const panel& p : of.panels)
      if (p.data.empty() != of_document && seen.emplace(p.algorithm, p.machine).second) first.push_back(&p);
  return first;
}

model make_model(const std::vector<record::result>& records) {
  model m;
  m.rows.reserve(records.size());
  for (const record::result& r : records) m.rows.push_back(make_row(r));
  for (const row& r : m.rows)
    found_or_added(m.machines, [&](const std::string& s) { return s == r.machine; }) = r.machine;
  make_panels(last_of_each_case(m), m);
  sort_panels(m.panels);
  return m;
}

}  // namespace tilewise::report
