// Puts the page together: the sections in order, the template filled in, the file written.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/report.hpp"
#include "report/sections.hpp"

#include "registry/catalog.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace tilewise::embedded {
extern const std::string_view report_page_html, report_page_css, report_page_js, report_chart_js, report_policy;
}

namespace tilewise::report {

namespace {

std::string summary_of(const std::string& algorithm) {
  for (const registry::algorithm* known : registry::algorithms())
    if (known->name == algorithm) return std::string(known->summary);
  return "";
}

html verdict_section(const model& m) {
  std::vector<html> items;
  for (const panel* p : main_panels(m))
    for (const board& b : p->boards)
      if (const std::string text = speed_finding(b); !text.empty())
        items.push_back(tag("strong", html::text(p->algorithm + " " + p->dtype + " on " + b.name +
                                                 (p->is_of_jobs() ? ", whole jobs" : "") +
                                                 (m.machines.size() > 1 ? " of " + p->machine : ""))) +
                        html::sentence(": " + text));
  for (const std::string& text : change_findings(m)) items.push_back(html::sentence(text));
  return tag("p", {{"class", any_wrong(m) ? "verdict wrong" : "verdict"}}, html::sentence(bits_finding(m))) +
         (items.empty() ? html() : list("ul", {}, items));
}

html panel_content(const panel& p, page_builder& page) {
  html whole = job_section(p, page);  // one statement each: charts are numbered in this order
  whole += time_section(p, page);
  whole += ladder_section(p, page);
  whole += speedup_section(p, page);
  whole += scaling_section(p, page);
  whole += transfer_section(p, page);
  return whole + bits_section(p) + ratio_section(p);
}

/// Of each panel, or empty where there is no room left. The fullest of an algorithm on a machine come first.
std::map<const panel*, html> panel_contents(const model& m, const std::vector<const panel*>& main, page_builder& page) {
  std::vector<const panel*> order = main;
  for (const panel& p : m.panels)
    if (std::find(main.begin(), main.end(), &p) == main.end()) order.push_back(&p);
  std::map<const panel*, html> contents;
  std::size_t bytes = 0;
  for (const panel* p : order) {
    if (bytes + page.size_of_charts() >= page_limits::problems) break;
    bytes += (contents[p] = panel_content(*p, page)).size();
  }
  return contents;
}

/// The fullest panel of an algorithm on a machine is open, the others are folded.
html algorithm_sections(const model& m, page_builder& page) {
  const auto main = main_panels(m);
  auto contents = panel_contents(m, main, page);
  html whole;
  std::string algorithm;
  for (const panel& p : m.panels) {
    const auto content = contents.find(&p);
    if (content == contents.end()) continue;
    if (p.algorithm != algorithm)
      whole += tag("h2", {{"class", "algorithm"}}, html::text(p.algorithm)) + paragraph(summary_of(p.algorithm));
    algorithm = p.algorithm;
    if (std::find(main.begin(), main.end(), &p) != main.end())
      whole += tag("h3", html::text(p.title)) + std::exchange(content->second, {});
    else
      whole += tag("details", {{"class", "panel"}},
                   tag("summary", html::text(p.title)) + std::exchange(content->second, {}));
  }
  return whole + left_out(m.panels.size() - contents.size(), "problems");
}

std::string title_of(const model& m) {
  std::string title = "Tilewise report";
  for (const std::string& machine : m.machines)
    if (!machine.empty()) title += " · " + machine;
  return title;
}

/// The template with each @name@ replaced, in one pass, so that no value is searched for names.
std::string filled(std::string_view page, const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  std::string text;
  while (!page.empty()) {
    const std::size_t begin = page.find('@');
    const std::size_t end = begin == std::string_view::npos ? begin : page.find('@', begin + 1);
    if (end == std::string_view::npos) break;
    text += page.substr(0, begin);
    for (const auto& [name, value] : values)
      if (name == page.substr(begin + 1, end - begin - 1)) text += value;
    page.remove_prefix(end + 1);
  }
  return text += page;
}

}  // namespace

void write_html(const model& m, const std::filesystem::path& out) {
  if (m.rows.empty())
    throw error(errc::invalid_argument, "there is no record to report on; run `tilewise bench` first");
  page_builder page;
  const std::string title = title_of(m);
  const html noscript =
      tag("noscript", paragraph("The charts need JavaScript; their numbers are in the tables below them."));
  html results = algorithm_sections(m, page);  // one statement each: charts are numbered in this order
  html fields = field_section(m, page);
  html content = tag("header", tag("h1", html::sentence(title)) + verdict_section(m) + noscript) + machine_section(m);
  content += std::exchange(results, {});
  content += seeds_section(m);
  content += std::exchange(fields, {});
  content += gap_section(m) + environment_section(m) + repeat_section(m) + warning_section(m);
  const std::string text = filled(embedded::report_page_html, {{"policy", embedded::report_policy},
                                                               {"title", html::sentence(title).code()},
                                                               {"style", embedded::report_page_css},
                                                               {"content", content.code()},
                                                               {"charts", page.charts()},
                                                               {"chart_js", embedded::report_chart_js},
                                                               {"page_js", embedded::report_page_js}});
  io::replacement_file file(out.string());
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace tilewise::report
