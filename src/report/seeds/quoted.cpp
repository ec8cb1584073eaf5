// SPDX-License-Identifier: Apache-2.0
// The documents' tables. A table that record/published.hpp has is quoted word for word; times of any other document
// come from its records.
#include "record/published.hpp"
#include "report/format.hpp"
#include "report/seeds/seeds.hpp"

#include <algorithm>

namespace tilewise::report {

namespace {

using record::published_table;

std::vector<const published_table*> known_tables(const document_problem& p) {
  std::vector<const published_table*> all;
  for (const published_table& t : record::published_tables())
    if (t.document == p.from->document && registry::to_string(t.shape) == p.rows.front()->shape) all.push_back(&t);
  return all;
}

/// "Intel Iris Xe"; several are "several machines".
std::string machines_of(const quoted_table& t) {
  const std::string& first = t.rows.front().as.machine;
  const bool is_one =
      std::all_of(t.rows.begin(), t.rows.end(), [&](const quoted_time& q) { return q.as.machine == first; });
  return is_one ? first : "several machines";
}

quoted_table word_for_word(const published_table& known) {
  quoted_table t{std::string(known.title), std::string(known.note), {}};
  for (const record::published_row& r : known.rows)
    t.rows.push_back({std::string(r.program),
                      std::string(r.time) + " " + std::string(known.unit),
                      std::string(r.speedup),
                      known.ns(r),
                      {std::string(r.system), std::string(r.machine), known.ns(r), r.with_transfers},
                      std::string(r.tuning)});
  t.caption += ", published for " + machines_of(t) + ", and ours.";
  return t;
}

quoted_table of_machine(const document_problem& p, const std::vector<record::published_time>& all,
                        const std::string& machine) {
  quoted_table t{p.rows.front()->at() + ", published for " + machine + ", and ours.", "", {}};
  for (const record::published_time& time : all) {
    if (time.machine != machine) continue;
    const auto speedup = published_speedup(p, time);
    const double ns = time.ns * p.times_in_run();
    t.rows.push_back({time.system, duration(ns), speedup ? factor(*speedup) : "", ns, time, ""});
  }
  return t;
}

}  // namespace

std::vector<quoted_table> quoted_tables(const document_problem& p) {
  std::vector<quoted_table> tables;
  for (const published_table* known : known_tables(p)) tables.push_back(word_for_word(*known));
  if (!tables.empty()) return tables;
  const std::vector<record::published_time> all = p.published();
  std::vector<std::string> machines;
  for (const record::published_time& time : all)
    if (std::find(machines.begin(), machines.end(), time.machine) == machines.end()) machines.push_back(time.machine);
  for (const std::string& machine : machines) tables.push_back(of_machine(p, all, machine));
  return tables;
}

bool stands_beside(const row& r, const record::published_time& time) {
  return record::stands_beside(r.experiment->document, r.shape, r.tuning, time);
}

std::optional<double> published_speedup(const document_problem& p, const record::published_time& of) {
  const row* base = p.baseline();
  if (!base) return std::nullopt;
  const auto& beside = base->experiment->published;
  for (const record::published_time& own : p.published())
    if (own.machine == of.machine && !own.with_transfers &&
        std::any_of(beside.begin(), beside.end(), [&](const auto& b) { return b.system == own.system; }))
      return own.ns / of.ns;
  return std::nullopt;
}

std::vector<std::string> size_names(const document_study& s) {
  std::vector<std::string> own, of_document;
  for (const document_problem& p : s.sizes) {
    own.push_back(p.rows.front()->size());
    if (const auto known = known_tables(p); !known.empty()) of_document.emplace_back(known.front()->size);
  }
  return of_document.size() == own.size() ? of_document : own;
}

}  // namespace tilewise::report
