// SPDX-License-Identifier: Apache-2.0
// Building blocks for the sections of the page: tables, and charts with their numbers in a table below.
#pragma once

#include "report/html.hpp"
#include "report/model.hpp"

#include <nlohmann/json.hpp>

namespace tilewise::report {

/// A table. The first cell of each row is its heading. Numbers are aligned right, words left. It has at most as many
/// rows as a list may have on the page, and says how many are left out.
enum class content { numbers, words };
html table(const std::string& caption, const std::vector<std::string>& heads,
           const std::vector<std::vector<html>>& rows, content of = content::numbers);

/// A block that shows only `words` until the reader unfolds it.
html folded(const std::string& words, html what);

html paragraph(const std::string& text);

/// A list with at most as many items as the page allows; says how many are left out.
html list(literal name, std::initializer_list<attribute> attributes, const std::vector<html>& items);

/// "12 more problems are left out; ..."; empty if none is.
html left_out(std::size_t how_many, const char* of_what);

/// Collects the charts that page.js draws.
class page_builder {
 public:
  /// `chart` is drawn; `finding` says in words what it shows; `numbers` is its table.
  html figure(const nlohmann::json& chart, const std::string& title, const std::string& finding, const html& numbers);

  /// The colours that chart_colours has assigned to names of a kind, by name.
  std::map<std::string, std::size_t>& colours_of(const std::string& scope, role kind) {
    return colours_[{scope, kind}];
  }

  /// A JSON array.
  std::string charts() const { return "[" + charts_ + "]"; }
  std::size_t size_of_charts() const { return charts_.size(); }

 private:
  std::string charts_;  // kept as text, which is a tenth as large as its JSON values
  std::size_t count_ = 0;
  std::map<std::pair<std::string, role>, std::map<std::string, std::size_t>> colours_;
};

/// Assigns colours to the lines of a chart, as numbers within a kind. A name has the same colour in all charts of a
/// scope, such as an algorithm, unless another line of the chart already has it.
class chart_colours {
 public:
  explicit chart_colours(page_builder& of) : page_(of) {}

  std::size_t of(const std::string& scope, role kind, const std::string& name);
  /// The colour of our variant on its device, or of a peer on any device.
  std::size_t of(const row& r);

  static constexpr std::size_t of_a_kind = 6;

 private:
  page_builder& page_;
  std::set<std::pair<role, std::size_t>> taken_;
};

/// A line or a bar of a chart. Its colour is number `index` of its kind in page.css; ours and other people's code have
/// no colour in common. For names that appear in several charts, chart_colours gives the index.
nlohmann::json chart_line(const std::string& label, role kind, std::size_t index, nlohmann::json points);
/// {x, y, low, high, hollow}; hollow if the time is in doubt.
nlohmann::json chart_point(double x, const interval& y, bool is_sure);
/// Whether the lines have points at three positions of the axis or more. Fewer make no curve, so they are only in the
/// table.
bool has_enough_points(const nlohmann::json& lines);
/// A reader cannot tell more lines apart in one chart.
inline constexpr std::size_t most_lines = 8;

/// A segment of each bar in a stacked chart. Segments of one kind have the same colour in all charts.
nlohmann::json stack_part(const char* label, int colour, const std::vector<double>& values);

/// The name of the axis of sizes. The next two are the name of a unit in kinds.js, and in words.
std::string axis_of(const panel& p);
const char* unit_name(speed_unit unit);
const char* unit_words(speed_unit unit);

}  // namespace tilewise::report
