// SPDX-License-Identifier: Apache-2.0
// What the sections of the page are made of: tables, and figures whose numbers are in a table below them.
#pragma once

#include "report/html.hpp"
#include "report/model.hpp"

#include <nlohmann/json.hpp>

namespace tilewise::report {

/// The first cell of each row is its heading. Numbers are aligned right, words left. It has as many rows as there is
/// room for, and says how many that leaves out.
enum class content { numbers, words };
html table(const std::string& caption, const std::vector<std::string>& heads,
           const std::vector<std::vector<html>>& rows, content of = content::numbers);

/// What is below `words` until a reader unfolds it.
html folded(const std::string& words, html what);

html paragraph(const std::string& text);

/// As many items as a list has room for, and how many that leaves out.
html list(literal name, std::initializer_list<attribute> attributes, const std::vector<html>& items);

/// "12 more problems are left out; ...": empty if none is.
html left_out(std::size_t how_many, const char* of_what);

/// Collects the charts that page.js draws.
class page_builder {
 public:
  /// `chart` is what is drawn; `finding` says in words what it shows; `numbers` is its table.
  html figure(const nlohmann::json& chart, const std::string& title, const std::string& finding, const html& numbers);

  /// What chart_colours gave to names of a kind, by name.
  std::map<std::string, std::size_t>& colours_of(const std::string& scope, role kind) {
    return colours_[{scope, kind}];
  }

  /// A JSON array.
  std::string charts() const { return "[" + charts_ + "]"; }
  std::size_t size_of_charts() const { return charts_.size(); }

 private:
  std::string charts_;  // as text, which is a tenth as large as its values
  std::size_t count_ = 0;
  std::map<std::pair<std::string, role>, std::map<std::string, std::size_t>> colours_;
};

/// The colours of a chart, by number among those of a kind: a name keeps its own in all charts of a scope, such as an
/// algorithm, unless another line of the chart has that.
class chart_colours {
 public:
  explicit chart_colours(page_builder& of) : page_(of) {}

  std::size_t of(const std::string& scope, role kind, const std::string& name);
  /// Of our variant on its device, or of a peer on any.
  std::size_t of(const row& r);

  static constexpr std::size_t of_a_kind = 6;

 private:
  page_builder& page_;
  std::set<std::pair<role, std::size_t>> taken_;
};

/// A line of a chart, or a bar. Its colour is that of the `index`-th of its kind, in page.css: ours and other people's
/// have none in common. chart_colours says which it is of what appears in several charts.
nlohmann::json chart_line(const std::string& label, role kind, std::size_t index, nlohmann::json points);
/// {x, y, low, high, hollow}: hollow if it is in doubt.
nlohmann::json chart_point(double x, const interval& y, bool is_sure);
/// Whether it has points at three places of its axis, or more; fewer are no curve, and stand in the table alone.
bool has_enough_points(const nlohmann::json& lines);
/// The lines of a chart that a reader can tell apart.
inline constexpr std::size_t most_lines = 8;

/// A part of each bar of a stack. Equal parts have equal colours in all pictures.
nlohmann::json stack_part(const char* label, int colour, const std::vector<double>& values);

/// The axis of sizes, and the name of a unit in kinds.js and in words.
std::string axis_of(const panel& p);
const char* unit_name(speed_unit unit);
const char* unit_words(speed_unit unit);

}  // namespace tilewise::report
