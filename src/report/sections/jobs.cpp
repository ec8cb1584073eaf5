// SPDX-License-Identifier: Apache-2.0
// Where the time of a whole job goes: a bar for each variant, from reading its file to writing the result.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace tilewise::report {

namespace {

using nlohmann::json;

struct phase {
  std::optional<double> (*of)(const record::phases&);
  const char* name;
  int colour;
};

template <auto Member>
std::optional<double> measured(const record::phases& p) {
  const auto& ns = p.*Member;
  return ns && std::isfinite(*ns) && *ns >= 0 ? std::optional(*ns) : std::nullopt;
}

/// In the order in which data passes through the phases.
constexpr std::array<phase, 5> all_phases{{{measured<&record::phases::read>, "read", 4},
                                           {measured<&record::phases::upload>, "copy in", 1},
                                           {measured<&record::phases::kernel>, "kernel", 0},
                                           {measured<&record::phases::download>, "copy out", 2},
                                           {measured<&record::phases::write>, "write", 3}}};

struct job {
  std::string label;
  const row* what;
  bool competes;  // as series::competes
};

/// Jobs at the largest size that was measured, the fastest first. Last are those in doubt, and those that compute
/// something else, such as with --fast.
std::vector<job> jobs_of(const panel& p) {
  std::vector<job> jobs;
  for (const board& b : p.boards)
    for (const series& s : b.all)
      for (const row* r : s.measured())
        if (r->phases)
          jobs.push_back({(b.is_cpu ? s.label : s.label + " on " + b.name) + (s.competes() ? "" : " (own order)") +
                              (r->ranked() ? "" : " (in doubt)"),
                          r, s.competes()});
  std::uint64_t largest = 0;
  for (const job& j : jobs) largest = std::max(largest, j.what->n);
  std::erase_if(jobs, [&](const job& j) { return j.what->n != largest; });
  std::stable_sort(jobs.begin(), jobs.end(), [](const job& x, const job& y) {
    const auto place = [](const job& j) { return std::tuple(!j.competes, !j.what->ranked(), j.what->kernel->median); };
    return place(x) < place(y);
  });
  return jobs;
}

std::string finding(const job& fastest) {
  if (!fastest.what->ranked() || !fastest.competes) return "No job’s time can be trusted.";
  double all = 0, most = 0;
  const char* name = "";
  for (const phase& part : all_phases) {
    const double ns = part.of(*fastest.what->phases).value_or(0);
    all += ns;
    if (ns > most) name = part.name;
    most = std::max(most, ns);
  }
  const std::string text =
      "At " + fastest.what->at() + " the fastest job, " + fastest.label + ", takes " +
      duration(fastest.what->kernel->median) +
      (shows_share(*fastest.what) ? ", " + share_text(*fastest.what) + " of " + limit_words(*fastest.what) : "");
  return most > 0 ? text + "; its largest part is ‘" + name + "’ with " + duration(most) + ", " + percent(most / all) +
                        " of all parts."
                  : text + ".";
}

html numbers(const std::vector<job>& jobs) {
  std::vector<std::string> heads{"variant"};
  for (const phase& part : all_phases) heads.emplace_back(part.name);
  heads.emplace_back("whole job");
  std::vector<std::vector<html>> rows;
  for (const job& j : jobs) {
    std::vector<html>& line = rows.emplace_back(std::vector<html>{html::text(j.label)});
    for (const phase& part : all_phases) {
      const auto ns = part.of(*j.what->phases);
      line.push_back(html::text(ns ? duration(*ns) : "–"));
    }
    line.push_back(html::text(marked_time(*j.what)));
  }
  return table("The parts of each job, and the job from end to end.", heads, rows);
}

json chart(const std::vector<job>& jobs) {
  constexpr std::size_t most_bars = 40;  // the height of a canvas is limited
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < std::min(jobs.size(), most_bars); ++i) labels.push_back(jobs[i].label);
  json parts = json::array();
  for (const phase& part : all_phases) {
    std::vector<double> values;
    for (std::size_t i = 0; i < labels.size(); ++i) values.push_back(part.of(*jobs[i].what->phases).value_or(0));
    if (std::any_of(values.begin(), values.end(), [](double ns) { return ns > 0; }))
      parts.push_back(stack_part(part.name, part.colour, values));
  }
  return {{"kind", "stack"}, {"x", "time in each part"}, {"y", ""},
          {"unit", "time"},  {"labels", labels},         {"parts", std::move(parts)}};
}

}  // namespace

html job_section(const panel& p, page_builder& page) {
  const std::vector<job> jobs = jobs_of(p);
  if (jobs.empty()) return {};
  return tag("h4", "Where the time of a whole job goes") +
         paragraph(
             "From reading the file to writing the result, at the largest size, the fastest first. Parts that run at "
             "the same time count in full: together they may be longer than the job.") +
         tag("div", {{"class", "figures wide"}},
             page.figure(chart(jobs), "A job’s parts.", finding(jobs.front()), numbers(jobs)));
}

}  // namespace tilewise::report
