// SPDX-License-Identifier: Apache-2.0
// A document's figures of runtime against simulated time, drawn again from the logs of the programs' runs: on the CPU,
// on the GPU, and all together, for each grid whose runs were logged.
#include "report/format.hpp"
#include "report/seeds/seeds.hpp"

#include <algorithm>
#include <map>

namespace tilewise::report {

namespace {

using nlohmann::json;
using record::moment;

/// One program's run on one device.
struct logged {
  std::string program;  // "CPU: OpenMP"
  const row* by;

  const std::vector<moment>& moments() const { return by->course->moments; }
};

/// In the order of the records; a program that ran on several devices has a line for each.
std::vector<logged> logs_of(const document_problem& p) {
  std::vector<logged> all;
  for (const row* r : p.rows)
    if (!r->wrong() && r->course && r->course->is_log() && !system_of(*r).empty()) all.push_back({system_of(*r), r});
  return all;
}

std::vector<logged> of_kind(std::vector<logged> all, const std::string& kind) {
  std::erase_if(all, [&](const logged& one) { return !one.program.starts_with(kind); });
  return all;
}

std::string label_of(const logged& one, const std::vector<logged>& all) {
  const auto same = std::count_if(all.begin(), all.end(), [&](const logged& l) { return l.program == one.program; });
  return one.program + (same > 1 ? " @" + place_of(*one.by) : "");
}

/// The simulated time at the end of the document's whole run.
double simulated_end(const document_problem& p, const moment& any) {
  const std::string& shape = p.rows.front()->shape;
  const double measured_steps = std::stod(shape.substr(shape.rfind('x') + 1));
  return p.times_in_run() * measured_steps * any.simulated_time.value_or(0) / static_cast<double>(any.step.value_or(1));
}

std::vector<quoted_time> published_of(const document_problem& p) {
  std::vector<quoted_time> all;
  for (const quoted_table& t : quoted_tables(p)) all.insert(all.end(), t.rows.begin(), t.rows.end());
  return all;
}

/// " Not logged here: GPU: CUDA." Empty if all of the document's programs of the kind were.
std::string missing_in(const std::vector<logged>& shown, const document_problem& p, const std::string& kind) {
  std::vector<std::string> missing;
  for (const quoted_time& q : published_of(p))
    if (q.program.starts_with(kind) &&
        std::none_of(shown.begin(), shown.end(), [&](const logged& one) { return one.program == q.program; }))
      missing.push_back(q.program);
  return missing.empty() ? "" : " Not logged here: " + listed(missing, 6) + ".";
}

/// Programs of one kind, "CPU: " or "GPU: ", or all for the empty kind; and the document's times of theirs.
json chart_of(const document_problem& p, const std::vector<logged>& all, const std::string& kind, page_builder& page) {
  json lines = json::array();
  chart_colours colours(page);
  for (const logged& one : all) {
    const std::string label = label_of(one, all);
    json points = json::array();
    for (const moment& m : one.moments())
      if (m.run_ns && *m.run_ns > 0 && m.simulated_time.value_or(0) > 0)
        points.push_back(chart_point(*m.simulated_time, {*m.run_ns, {}, {}}, false));
    lines.push_back(
        chart_line(label, role::tilewise, colours.of("documents", role::tilewise, label), std::move(points)));
  }
  if (!has_enough_points(lines)) return nullptr;
  const double end = simulated_end(p, all.front().moments().back());
  for (const quoted_time& q : published_of(p))
    if (q.program.starts_with(kind))
      lines.push_back(chart_line(q.program + ", published", role::peer, colours.of("documents", role::peer, q.program),
                                 json::array({chart_point(end, {q.ns, {}, {}}, true)})));
  return {{"kind", "lines"}, {"x", "simulation time"},      {"y", "execution time"},
          {"unit", "time"},  {"counts", "simulation time"}, {"lines", std::move(lines)}};
}

/// As the log of the document's programs has it: a line for each step, here with all programs beside each other.
html numbers_of(const std::vector<logged>& all) {
  std::vector<std::string> heads{"step", "simulation time", "residual"};
  std::map<std::uint64_t, std::vector<html>> lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    heads.push_back(label_of(all[i], all));
    for (const moment& m : all[i].moments()) {
      if (!m.step || !m.run_ns) continue;
      auto& line = lines[*m.step];
      if (line.empty()) {
        line.assign(3 + all.size(), "–");
        line[0] = html::text(count(*m.step));
        line[1] = html::text(significant(m.simulated_time.value_or(0), 3));
        line[2] = html::text(m.residual ? significant(*m.residual, 3) : "–");
      }
      line[3 + i] = html::text(duration(*m.run_ns));
    }
  }
  std::vector<std::vector<html>> rows;
  for (auto& [step, line] : lines) rows.push_back(std::move(line));
  return table("One run of each program, without intervals.", heads, rows);
}

/// Whether all programs have the same field at each step that they have in common.
html fields_finding(const std::vector<logged>& all, const std::string& size) {
  std::map<std::uint64_t, std::string> known;
  bool is_equal = true;
  for (const logged& one : all)
    for (const moment& m : one.moments()) is_equal &= known.emplace(m.step.value_or(0), m.hash).first->second == m.hash;
  return is_equal ? paragraph(size + ": at every step that they have in common, all programs have the same field.")
                  : tag("p", {{"class", "wrong"}}, html::text(size + ": the programs’ fields are NOT equal."));
}

html figures_of(const document_problem& p, const std::string& size, page_builder& page) {
  const std::vector<logged> all = logs_of(p);
  if (all.empty()) return {};
  html figures;
  for (const auto& [kind, name] : {std::pair("CPU: ", "CPU"), std::pair("GPU: ", "GPU"), std::pair("", "all")}) {
    const std::vector<logged> shown = of_kind(all, kind);
    if (shown.empty()) continue;
    const json chart = chart_of(p, shown, kind, page);
    if (!chart.is_null())
      figures += page.figure(chart, "Runtimes for " + size + ", " + name + " implementations.",
                             "Hollow: one run of each program, ended after about two seconds. The single points at the "
                             "end: the document’s times of the whole run." +
                                 missing_in(shown, p, kind),
                             numbers_of(shown));
  }
  return figures.empty() ? html() : fields_finding(all, size) + tag("div", {{"class", "figures"}}, figures);
}

}  // namespace

html runtime_figures(const document_study& s, page_builder& page) {
  const std::vector<std::string> names = size_names(s);
  html figures;
  for (std::size_t i = 0; i < s.sizes.size(); ++i) figures += figures_of(s.sizes[i], names[i], page);
  if (figures.empty())
    return paragraph("No program’s run was logged, so runtime is not drawn against simulation time.");
  return tag("h4", "Runtime against simulation time") + figures;
}

}  // namespace tilewise::report
