// SPDX-License-Identifier: Apache-2.0
#include "report/page_builder.hpp"

#include "report/format.hpp"

#include <array>

namespace tilewise::report {

using nlohmann::json;

html table(const std::string& caption, const std::vector<std::string>& heads,
           const std::vector<std::vector<html>>& rows, content of) {
  html head, body;
  for (const std::string& h : heads) head += tag("th", html::text(h));
  std::size_t shown = 0;
  for (; shown < rows.size() && body.size() < page_limits::list; ++shown) {
    html line;
    for (const html& cell : rows[shown]) line += &cell == &rows[shown].front() ? tag("th", cell) : tag("td", cell);
    body += tag("tr", std::move(line));
  }
  html whole = tag("caption", html::sentence(caption)) + tag("thead", tag("tr", std::move(head)));
  whole += tag("tbody", std::move(body));
  return tag("div", {{"class", of == content::words ? "scroll words" : "scroll"}}, tag("table", std::move(whole))) +
         left_out(rows.size() - shown, "rows");
}

html folded(const std::string& words, html what) {
  what = tag("summary", html::text(words)) + what;
  return tag("details", std::move(what));
}

html paragraph(const std::string& text) { return tag("p", html::sentence(text)); }

html list(literal name, std::initializer_list<attribute> attributes, const std::vector<html>& items) {
  html lines;
  std::size_t shown = 0;
  for (; shown < items.size() && lines.size() < page_limits::list; ++shown) lines += tag("li", items[shown]);
  return tag(name, attributes, std::move(lines)) + left_out(items.size() - shown, "items");
}

html left_out(std::size_t how_many, const char* of_what) {
  if (how_many == 0) return {};
  return paragraph(count(how_many) + " more " + of_what +
                   " are left out, as the page has no room for them; `tilewise report --csv` has every record.");
}

html page_builder::figure(const json& chart, const std::string& title, const std::string& finding,
                          const html& numbers) {
  const std::string id = std::to_string(count_++);
  charts_ += (charts_.empty() ? "" : ",") + chart.dump(-1, ' ', true);
  const html canvas = tag("canvas", {{"data-chart", id}}, {});
  const html words = tag("figcaption", tag("strong", html::text(title)) + " " + html::sentence(finding));
  return tag("figure", words + tag("div", {{"class", "canvas"}}, canvas) + folded("The numbers", numbers));
}

std::size_t chart_colours::of(const std::string& scope, role kind, const std::string& name) {
  auto& known = page_.colours_of(scope, kind);
  std::set<std::size_t> used;
  for (const auto& [other, colour] : known) used.insert(colour);
  const auto first_free = [&](bool of_nobody) -> std::optional<std::size_t> {
    for (std::size_t colour = 0; colour < of_a_kind; ++colour)
      if (!taken_.contains({kind, colour}) && !(of_nobody && used.contains(colour))) return colour;
    return std::nullopt;
  };
  const auto own = known.find(name);
  std::optional<std::size_t> found;
  if (own == known.end())
    found = first_free(true);
  else if (!taken_.contains({kind, own->second}))
    found = own->second;
  if (!found) found = first_free(false);
  const std::size_t colour = found.value_or(known.size() % of_a_kind);  // colours repeat if there are too few
  known.try_emplace(name, colour);
  taken_.insert({kind, colour});
  return colour;
}

std::size_t chart_colours::of(const row& r) {
  if (r.is_limit() || r.is_serial()) return 0;  // these kinds have one colour each
  return r.peer ? of(r.algorithm, role::peer, r.variant)
                : of(r.algorithm, role::tilewise, r.variant + " on " + r.device);
}

json chart_line(const std::string& label, role kind, std::size_t index, json points) {
  constexpr std::array<const char*, 4> roles{"serial", "tilewise", "peer", "limit"};
  const std::string number = std::to_string(index % chart_colours::of_a_kind);
  const std::string colour = kind == role::tilewise ? "ours" + number
                             : kind == role::peer   ? "peer" + number
                             : kind == role::serial ? "serial"
                                                    : "limit";
  return {{"label", label},
          {"role", roles[static_cast<std::size_t>(kind)]},
          {"colour", colour},
          {"points", std::move(points)}};
}

json chart_point(double x, const interval& y, bool is_sure) {
  return json::array({x, y.median, y.low.value_or(y.median), y.high.value_or(y.median), !is_sure});
}

bool has_enough_points(const json& lines) {
  std::set<double> places;
  for (const json& line : lines)
    for (const json& point : line["points"]) places.insert(point[0].get<double>());
  return places.size() >= 3;
}

json stack_part(const char* label, int colour, const std::vector<double>& values) {
  return {{"label", label}, {"colour", "part" + std::to_string(colour)}, {"values", values}};
}

std::string axis_of(const panel& p) {
  for (const board& b : p.boards)
    for (const series& s : b.all)
      for (const row* r : s.rows)
        if (r->shape.find('x') != r->shape.npos) return p.shape.empty() ? "n, each of the sizes" : "n, the first size";
  return "n, elements";
}

const char* unit_name(speed_unit unit) {
  return unit == speed_unit::bytes ? "bytes" : unit == speed_unit::elements ? "elements" : "operations";
}
const char* unit_words(speed_unit unit) {
  return unit == speed_unit::bytes      ? "compulsory bytes / time"
         : unit == speed_unit::elements ? "elements / time"
                                        : "operations / time";
}

}  // namespace tilewise::report
