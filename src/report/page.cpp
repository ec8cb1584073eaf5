// Puts the page together: the sections in order, the template filled in, the file written.
#include "report/file.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/report.hpp"
#include "report/sections.hpp"

#include "registry/catalog.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
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
  html items;
  for (const panel* p : main_panels(m))
    for (const board& b : p->boards)
      if (const std::string text = speed_finding(b); !text.empty())
        items += tag("li", tag("strong", html::text(p->algorithm + " " + p->dtype + " on " + b.name +
                                                    (m.machines.size() > 1 ? " of " + p->machine : ""))) +
                               html::text(": " + text));
  for (const std::string& text : change_findings(m)) items += tag("li", html::text(text));
  return tag("p", {{"class", any_wrong(m) ? "verdict wrong" : "verdict"}}, html::text(bits_finding(m))) +
         (items.empty() ? html() : tag("ul", items));
}

html panel_content(const panel& p, page_builder& page) {
  html whole = time_section(p, page);  // one statement each: charts are numbered in this order
  whole += ladder_section(p, page);
  whole += speedup_section(p, page);
  whole += transfer_section(p, page);
  return whole + bits_section(p) + ratio_section(p);
}

/// The fullest panel of an algorithm on a machine is open, the others are folded.
html algorithm_sections(const model& m, page_builder& page) {
  html whole;
  std::string algorithm;
  const auto main = main_panels(m);
  for (const panel& p : m.panels) {
    if (p.algorithm != algorithm)
      whole += tag("h2", {{"class", "algorithm"}}, html::text(p.algorithm)) + paragraph(summary_of(p.algorithm));
    algorithm = p.algorithm;
    if (std::find(main.begin(), main.end(), &p) != main.end())
      whole += tag("h3", html::text(p.title)) + panel_content(p, page);
    else
      whole += tag("details", {{"class", "panel"}}, tag("summary", html::text(p.title)) + panel_content(p, page));
  }
  return whole;
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

void write_html(const record::results& records, const std::filesystem::path& out) {
  if (records.empty())
    throw error(errc::invalid_argument, "there is no record to report on; run `tilewise bench` first");
  const model m = make_model(records);
  page_builder page;
  const std::string title = title_of(m);
  const html noscript =
      tag("noscript", paragraph("The charts need JavaScript; their numbers are in the tables below them."));
  html results = algorithm_sections(m, page);  // one statement each: charts are numbered in this order
  html fields = field_section(m, page);
  html content = tag("header", tag("h1", html::text(title)) + verdict_section(m) + noscript) + machine_section(m);
  content += std::exchange(results, {});
  content += seeds_section(m);
  content += std::exchange(fields, {});
  content += gap_section(m) + environment_section(m) + repeat_section(m) + warning_section(m);
  write_file(out, filled(embedded::report_page_html, {{"policy", embedded::report_policy},
                                                      {"title", html::text(title).code()},
                                                      {"style", embedded::report_page_css},
                                                      {"content", content.code()},
                                                      {"charts", escape_json(page.charts().dump(-1, ' ', true))},
                                                      {"chart_js", embedded::report_chart_js},
                                                      {"page_js", embedded::report_page_js}}));
}

}  // namespace tilewise::report
