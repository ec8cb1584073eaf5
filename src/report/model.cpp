// SPDX-License-Identifier: Apache-2.0
#include "report/model.hpp"

#include "report/format.hpp"

#include "registry/catalog.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tilewise::report {

speed_unit unit_of(const std::string& algorithm) {
  for (const registry::algorithm* known : registry::algorithms())
    if (known->name == algorithm) return known->speed_in;
  return speed_unit::bytes;
}

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
  return all_have_it ? speed_in : speed_unit::bytes;
}

std::string board::size_at(std::uint64_t n) const {
  for (const series& s : all)
    if (const row* r = s.at(n)) return r->size();
  return count(n);
}

std::uint64_t board::common_size() const {
  std::map<std::uint64_t, std::size_t> timed_at;  // by size: how many series with many sizes have a time
  for (const std::uint64_t n : sizes()) timed_at[n] = 0;
  for (const series& s : all) {
    const std::vector<const row*> shown = s.measured();
    if (shown.size() * 2 <= timed_at.size()) continue;
    for (const row* r : shown) ++timed_at[r->n];
  }
  std::uint64_t best = 0;
  std::size_t most = 0;
  for (const auto& [n, timed] : timed_at) {
    if (timed < most) continue;
    most = timed;
    best = n;
  }
  return best;
}

std::uint64_t board::largest_size() const {
  std::uint64_t largest = 0;
  for (const series& s : all)
    if (s.kind == role::tilewise)
      for (const row* r : s.measured()) largest = std::max(largest, r->n);
  return largest;
}

namespace {

template <class Counts>
const series* fastest_that(const board& b, role kind, std::uint64_t n, Counts counts) {
  const series* best = nullptr;
  for (const series& s : b.all) {
    const row* r = s.kind == kind ? s.at(n) : nullptr;
    if (r && counts(*r) && s.competes() && (!best || r->kernel->median < best->at(n)->kernel->median)) best = &s;
  }
  return best;
}

}  // namespace

const series* board::fastest(role kind, std::uint64_t n) const {
  const series* ranked = fastest_that(*this, kind, n, [](const row& r) { return r.ranked(); });
  const series* shortest = fastest_of_all(kind, n);
  if (shortest == ranked) return ranked;
  const row& wide = *shortest->at(n);
  std::size_t others = 0, longer = 0;
  for (const series& s : all) {
    const row* r = s.kind == kind ? s.at(n) : nullptr;
    if (!r || r == &wide || !r->timed() || !s.competes()) continue;
    ++others;
    longer += wide.is_surely_shorter(*r);
  }
  if (others > 0 && longer == others) return shortest;
  return ranked != nullptr && wide.is_surely_shorter(*ranked->at(n)) ? nullptr : ranked;
}
const series* board::fastest_of_all(role kind, std::uint64_t n) const {
  return fastest_that(*this, kind, n, [](const row& r) { return r.timed(); });
}

const series* board::fastest_shown(role kind, std::uint64_t n) const {
  const series* best = fastest(kind, n);
  return best ? best : fastest_of_all(kind, n);
}

std::optional<interval> row::in_turns_with(const row& other) const {
  const bool ran_together = &on == &other.on && group == other.group && mode == other.mode && data == other.data;
  if (!ran_together || !plausible || !other.plausible) return std::nullopt;
  for (const ratio& q : ratios)
    if (q.to == other.variant && q.device == other.device && q.tuning == other.tuning && q.value.low && q.value.high)
      return q.value;
  return std::nullopt;
}

bool row::is_surely_shorter(const row& other) const {
  if (const auto by_turns = in_turns_with(other)) return *by_turns->low > 1 + smallest_effect();
  return plausible && kernel->spread() && report::is_surely_shorter(*kernel, *other.kernel);
}

std::vector<const row*> series::measured() const {
  std::vector<const row*> shown;
  for (const row* r : rows)
    if (r->timed() && (shown.empty() || shown.back()->n != r->n)) shown.push_back(r);
  return shown;
}

bool series::competes() const {
  return std::none_of(rows.begin(), rows.end(), [&](const row* r) {
    const bool is_of_another_unit = r->bound_by == record::ceiling::fma && r->fraction.value_or(0) >= 1.5 &&
                                    unit_of(r->algorithm) == speed_unit::operations;
    return r->own_order && (kind == role::tilewise || is_of_another_unit || is_less_exact(*r));
  });
}

const series* panel::serial() const {
  for (const board& b : boards)
    for (const series& s : b.all)
      if (s.kind == role::serial) return &s;
  return nullptr;
}

std::vector<const board*> panel::processors() const {
  std::vector<const board*> all;
  for (const board& b : boards) all.push_back(&b);
  const auto is_of_cpus = [](const board* b) { return b->is_group && b->computes_on_cpu; };
  if (!std::all_of(all.begin(), all.end(), is_of_cpus)) std::erase_if(all, is_of_cpus);
  return all;
}

const board* panel::cpu() const { return !boards.empty() && boards.front().is_cpu ? &boards.front() : nullptr; }

std::set<std::uint64_t> panel::sizes() const {
  std::set<std::uint64_t> all;
  for (const board& b : boards)
    for (const std::uint64_t n : b.sizes()) all.insert(n);
  return all;
}

std::uint64_t panel::largest_size() const {
  std::uint64_t largest = 0;
  for (const board& b : boards) largest = std::max(largest, b.largest_size());
  return largest;
}

std::string panel::size_at(std::uint64_t n) const {
  for (const board& b : boards)
    for (const series& s : b.all)
      if (const row* r = s.at(n)) return r->size();
  return count(n);
}

std::vector<const panel*> main_panels(const model& of) {
  std::vector<const panel*> first;
  std::map<std::tuple<std::string, std::string, bool>, std::size_t> place_of;
  for (const bool of_document : {false, true})
    for (const panel& p : of.panels) {
      if (p.data.empty() == of_document) continue;
      const auto [at, is_new] = place_of.emplace(std::tuple(p.algorithm, p.machine, p.is_of_jobs()), first.size());
      if (is_new)
        first.push_back(&p);
      else if (!of_document && p.of_no_document > first[at->second]->of_no_document)
        first[at->second] = &p;
    }
  return first;
}

}  // namespace tilewise::report
