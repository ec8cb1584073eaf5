// SPDX-License-Identifier: Apache-2.0
// Assembles the page: puts the sections in order, fills the template, and writes the file.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/report.hpp"
#include "report/sections/sections.hpp"

#include "registry/catalog.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace tilewise::embedded {
extern const std::string_view report_page_html, report_page_css, report_unpack_js, report_chart_js, report_svg_js,
    report_kinds_js, report_page_js, report_policy;
}

namespace tilewise::report {

namespace {

std::string summary_of(const std::string& algorithm) {
  for (const registry::algorithm* known : registry::algorithms())
    if (known->name == algorithm) return std::string(known->summary);
  return "";
}

html panel_content(const panel& p, const std::vector<roofline>& rooflines, page_builder& page) {
  html whole = doubt_section(p);
  const html times = time_section(p, page);  // first, since its lines must have different colours
  if (p.is_of_jobs()) return whole + job_section(p, page) + times;
  whole += ladder_section(p, page) + times;
  whole += bounds_section(p, rooflines, page);
  whole += scaling_section(p, page);
  whole += transfer_section(p, page);
  return whole + peer_section(p);
}

/// The content of each panel; empty if the page has no room left. The fullest panel of an algorithm on a machine comes
/// first.
std::map<const panel*, html> panel_contents(const model& m, const std::vector<const panel*>& main,
                                            const std::vector<roofline>& rooflines, page_builder& page) {
  std::vector<const panel*> order = main;
  for (const panel& p : m.panels)
    if (std::find(main.begin(), main.end(), &p) == main.end()) order.push_back(&p);
  std::map<const panel*, html> contents;
  std::size_t bytes = 0;
  for (const panel* p : order) {
    if (bytes + page.size_of_charts() >= page_limits::problems) break;
    bytes += (contents[p] = panel_content(*p, rooflines, page)).size();
  }
  return contents;
}

/// "Measured: f32 and f64, n = 64 to 268,435,456, on cpu and cuda:0."
std::string measured_sentence(const std::vector<const panel*>& panels) {
  std::vector<std::string> types, places, shapes;
  const auto add = [](std::vector<std::string>& to, const std::string& name) {
    if (!name.empty() && std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
  };
  std::set<std::uint64_t> sizes;
  const panel* largest = panels.front();
  for (const panel* p : panels) {
    add(types, p->dtype);
    add(shapes, p->shape);
    for (const board* b : p->processors()) add(places, b->name);
    if (p->shape.empty()) sizes.merge(p->sizes());
    if (p->shape.empty()) largest = p;
  }
  std::string text = "Measured: " + listed(types, 8);
  if (!sizes.empty())
    text += ", n = " + largest->size_at(*sizes.begin()) +
            (sizes.size() > 1 ? " to " + largest->size_at(*sizes.rbegin()) : "");
  if (!shapes.empty()) text += ", " + listed(shapes, 8);
  return text + ", on " + listed(places, 8) + ".";
}

/// The sections of the algorithms. The fullest panel of each algorithm on each machine is open, the others are folded.
std::vector<chapter> algorithm_sections(const model& m, const std::vector<roofline>& rooflines, page_builder& page) {
  const auto main = main_panels(m);
  auto contents = panel_contents(m, main, rooflines, page);
  std::vector<chapter> all;
  std::vector<const panel*> of_algorithm;
  for (auto p = m.panels.begin(); p != m.panels.end(); ++p) {
    if (p == m.panels.begin() || p->algorithm != std::prev(p)->algorithm) {
      of_algorithm.clear();
      for (auto q = p; q != m.panels.end() && q->algorithm == p->algorithm; ++q) of_algorithm.push_back(&*q);
      all.push_back({p->algorithm, paragraph(summary_of(p->algorithm)) + paragraph(measured_sentence(of_algorithm))});
    }
    const auto content = contents.find(&*p);
    if (content == contents.end()) continue;
    const html title = tag("h3", html::text(p->title));
    all.back().content +=
        std::find(main.begin(), main.end(), &*p) != main.end()
            ? title + std::exchange(content->second, {})
            : tag("details", {{"class", "panel"}}, tag("summary", title) + std::exchange(content->second, {}));
  }
  if (!all.empty()) all.back().content += left_out(m.panels.size() - contents.size(), "problems");
  return all;
}

/// All sections after the first screen, in order. Sections without content are left out.
std::vector<chapter> sections_of(const model& m, page_builder& page) {
  const std::vector<roofline> of_devices = rooflines(m);
  std::vector<chapter> all;
  const auto append = [&](std::vector<chapter> more) {
    for (chapter& c : more) all.push_back(std::move(c));
  };
  if (is_of_documents(m)) append(seeds_chapters(m, of_devices, page));
  append(algorithm_sections(m, of_devices, page));
  if (!is_of_documents(m)) append(seeds_chapters(m, of_devices, page));
  all.push_back({"What bounds each device", roofline_section(of_devices, page)});
  all.push_back({"The diffusing field", field_section(m, page)});
  all.push_back({m.machines.size() == 1 ? "The machine" : "The machines", machine_section(m)});
  all.push_back({"How to repeat it", repeat_section(m)});
  std::erase_if(all, [](const chapter& s) { return s.content.empty(); });
  return all;
}

std::string anchor(std::size_t i) { return "section-" + std::to_string(i + 1); }

html contents_of(const std::vector<chapter>& sections) {
  std::vector<html> items;
  for (std::size_t i = 0; i < sections.size(); ++i)
    items.push_back(tag("a", {{"href", "#" + anchor(i)}}, html::text(sections[i].title)));
  return tag("nav", {{"aria-label", "Contents"}}, list("ul", {}, items));
}

html how_to_read() {
  const html order = tag(
      "p", {{"class", "note"}, {"id", "order"}},
      "The order of operations: rounded sums depend on the order in which they are added, so that the last digits of "
      "most libraries’ results change with the processor, and often from run to run. Each function of Tilewise has one "
      "order (docs/order.md), which all its variants keep, so their results are compared with the definition’s bit by "
      "bit. Other people’s code has an order of its own, and its results are held against a bound of error.");
  const html charts = tag(
      "p", {{"class", "note"}},
      "The ladder of a problem shows the throughput of each variant once, slowest first, at the largest size that "
      "most share; beside a bar is its factor over the bar above it. Hatched: other people’s code. Outlined, at the "
      "end: the limit of the fastest of ours, by which its share is told. Where the fastest has more than a hundred "
      "times the speed of the slowest, the scale is logarithmic. Compulsory bytes: each input read once, each output "
      "written once; what only reads may beat its copy. What rests on a time in doubt, or on a limit of which the time "
      "is in doubt, is marked ? and is hollow in charts.");
  return charts + order;
}

html sections_html(std::vector<chapter> sections) {
  html whole;
  for (std::size_t i = 0; i < sections.size(); ++i)
    whole += tag("section", {{"id", anchor(i)}},
                 tag("h2", html::text(sections[i].title)) + std::exchange(sections[i].content, {}));
  return whole;
}

/// The hardware that was measured, if none of it is a CPU; otherwise empty.
std::vector<std::string> hardware_beside_the_cpu(const model& m) {
  std::vector<std::string> all;
  for (const panel& p : m.panels)
    for (const board& b : p.boards) {
      if (b.is_cpu || b.computes_on_cpu) return {};
      if (!b.title.empty() && std::find(all.begin(), all.end(), b.title) == all.end()) all.push_back(b.title);
    }
  return all;
}

std::string title_of(const model& m) {
  if (m.machines.size() > 2) return "Tilewise on " + count(m.machines.size()) + " machines";
  std::vector<std::string> hosts;
  for (const std::string& machine : m.machines)
    if (!machine.empty()) hosts.push_back(machine);
  if (hosts.empty()) return "Tilewise report";
  const std::vector<std::string> hardware = hardware_beside_the_cpu(m);
  const std::string of = hosts.size() == 1 && !hardware.empty() ? listed(hardware, 3) + ", in " : "";
  return "Tilewise on " + of + listed(hosts, 2);
}

/// Replaces each @name@ of the template, in one pass, so that names within values are not replaced.
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
  std::vector<chapter> sections = sections_of(m, page);
  anchors by_title;
  for (std::size_t i = 0; i < sections.size(); ++i) by_title.emplace(sections[i].title, anchor(i));
  html content = tag("header", tag("h1", html::sentence(title)) + overview(m, by_title) + noscript);
  content += contents_of(sections) + how_to_read();
  content += sections_html(std::move(sections));
  content += not_measured(m);
  const std::string text = filled(embedded::report_page_html, {{"policy", embedded::report_policy},
                                                               {"title", html::sentence(title).code()},
                                                               {"style", embedded::report_page_css},
                                                               {"content", content.code()},
                                                               {"charts", packed(page.charts())},
                                                               {"chart_js", packed(embedded::report_chart_js)},
                                                               {"svg_js", packed(embedded::report_svg_js)},
                                                               {"kinds_js", packed(embedded::report_kinds_js)},
                                                               {"page_js", packed(embedded::report_page_js)},
                                                               {"unpack_js", embedded::report_unpack_js}});
  io::replacement_file file(out.string());
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace tilewise::report
