// SPDX-License-Identifier: Apache-2.0
// Parts of reports: numbers and lists in words, tables, points and colours of charts, and the columns of a CSV file.
#include "page.hpp"
#include "report/format.hpp"
#include "report/page_builder.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilewise::report {
namespace {

using nlohmann::json;

TEST(ReportParts, NumbersHaveThreeDigitsAndTheShortestUnit) {
  const std::pair<std::string, const char*> cases[] = {
      {count(999), "999"},
      {count(1000), "1,000"},
      {count(1234567), "1,234,567"},
      {significant(1000, 3), "1,000"},
      {significant(123456789.4, 3), "123,000,000"},
      {significant(-1234.5, 2), "-1,200"},
      {bytes(1023), "1,020 B"},
      {bytes(1024), "1.00 KiB"},
      {bytes(3 * 1048576.0), "3.00 MiB"},
      {bytes(1e9), "954 MiB"},
      {duration(999.4), "999 ns"},
      {duration(999.6), "1.00 µs"},
      {duration(2.5e7), "25.0 ms"},
      {rate(1500), "1.50 kB/s"},
      {element_rate(2e9), "2.00 G/s"},
      {percent(0.5), "50 %"},
      {percent(1.234), "120 %"},
      {factor(0.5), "0.500"},
      {marked(true, "1 ns"), "1 ns"},
      {marked(false, "1 ns"), "? 1 ns"},
      {listed({"a"}, 2), "a"},
      {listed({"a", "b", "c"}, 3), "a, b and c"},
      {listed({"a", "b", "c"}, 2), "a, b and c"},  // rather than "and 1 more"
      {listed({"a", "b", "c", "d"}, 2), "a, b and 2 more"},
      {unit_name(registry::speed_unit::bytes), "bytes"},
      {unit_name(registry::speed_unit::elements), "elements"},
      {unit_name(registry::speed_unit::operations), "operations"},
      {unit_words(registry::speed_unit::bytes), "compulsory bytes / time"},
      {unit_words(registry::speed_unit::elements), "elements / time"},
      {unit_words(registry::speed_unit::operations), "operations / time"},
  };
  for (const auto& [got, expected] : cases) EXPECT_EQ(got, expected);
}

TEST(ReportParts, WhatATableOrAListLeavesOutIsCounted) {
  EXPECT_TRUE(left_out(0, "rows").empty());
  const std::vector<html> lines(3000, html::text(std::string(200, 'x')));
  std::vector<std::vector<html>> rows;
  for (const html& line : lines) rows.push_back({line, "1"});
  const auto tells_of = [](const std::string& code, const char* each, const char* words) {
    const std::size_t shown = times_in(code, each);
    EXPECT_GT(shown, 1000u) << words;
    EXPECT_LT(code.size(), 2 * page_limits::list) << words;
    return code.find(count(3000 - shown) + " more " + words + " are left out") != code.npos;
  };
  EXPECT_TRUE(tells_of(table("Many.", {"name", "value"}, rows).code(), "<td>", "rows"));
  EXPECT_TRUE(tells_of(list("ul", {}, lines).code(), "<li>", "items"));
  rows.resize(2);
  EXPECT_EQ(table("Few.", {"name", "value"}, rows).code().find("left out"), std::string::npos);
}

TEST(ReportParts, APointHasItsEndsAndIsHollowInDoubt) {
  EXPECT_EQ(chart_point(8, {2, 1, 3}, true), (json{8.0, 2.0, 1.0, 3.0, false}));
  EXPECT_EQ(chart_point(8, {2, {}, {}}, false), (json{8.0, 2.0, 2.0, 2.0, true}));
  const auto lines_at = [](const std::vector<double>& places) {
    json points = json::array();
    for (const double x : places) points.push_back(chart_point(x, {1, {}, {}}, true));
    return json::array({chart_line("a", role::peer, 0, points), chart_line("b", role::peer, 1, points)});
  };
  EXPECT_FALSE(has_enough_points(lines_at({1, 2})));
  EXPECT_FALSE(has_enough_points(lines_at({1, 2, 2})));
  EXPECT_TRUE(has_enough_points(lines_at({1, 2, 3})));
}

/// The colours of page.css: six of ours, six of others.
TEST(ReportParts, AChartOfMoreLinesThanColoursUsesAllOfThemAndNoOther) {
  page_builder page;
  chart_colours first(page), second(page);
  std::vector<std::size_t> given;
  for (int line = 0; line < 20; ++line) given.push_back(first.of("scan", role::peer, std::to_string(line)));
  EXPECT_EQ(std::set<std::size_t>(given.begin(), given.begin() + 6), (std::set<std::size_t>{0, 1, 2, 3, 4, 5}));
  for (const std::size_t colour : given) EXPECT_LT(colour, chart_colours::of_a_kind);
  EXPECT_EQ(second.of("scan", role::peer, "3"), given[3]) << "a name keeps its colour in another chart";
  EXPECT_EQ(second.of("scan", role::tilewise, "3"), 0u) << "another kind has its own";
  const std::string styles = page_of(made_up_records());
  for (const role kind : {role::serial, role::tilewise, role::peer, role::limit})
    for (std::size_t index = 0; index < 20; ++index) {
      const std::string colour = chart_line("a line", kind, index, json::array())["colour"];
      EXPECT_NE(styles.find("--" + colour + ": #"), std::string::npos) << colour;
    }
}

TEST(ReportParts, ANewNameTakesAColourThatNobodyHasWhileThereIsOne) {
  page_builder page;
  const std::size_t known = chart_colours(page).of("scan", role::tilewise, "known");
  EXPECT_NE(chart_colours(page).of("scan", role::tilewise, "new"), known);
  chart_colours third(page);  // where all have an owner, a line that is not in this chart gives its own
  for (const char* name : {"c", "d", "e", "f"}) third.of("scan", role::tilewise, name);
  EXPECT_EQ(third.of("scan", role::tilewise, "g"), known);
  EXPECT_NE(third.of("scan", role::tilewise, "known"), known) << "it is taken in this chart";
  chart_colours fourth(page);
  EXPECT_EQ(fourth.of("scan", role::tilewise, "known"), known);
  EXPECT_EQ(fourth.of("scan", role::tilewise, "new"), 1u);
  EXPECT_EQ(fourth.of("scan", role::tilewise, "h"), 2u) << "the first that is free in this chart";
}

/// The fields of a line of RFC 4180.
std::vector<std::string> cells_of_csv(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"')
      is_quoted = !is_quoted;
    else if (c == ',' && !is_quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

TEST(ReportParts, EachColumnOfACsvFileHasTheFigureOfItsName) {
  const std::pair<const char*, const char*> columns[] = {
      {"id", "/id"},
      {"time_utc", "/time_utc"},
      {"reason", "/reason"},
      {"hostname", "/host/hostname"},
      {"cpu_model", "/host/cpu_model"},
      {"device", "/device/name"},
      {"device_description", "/device/description"},
      {"driver", "/device/driver"},
      {"group", "/case/group"},
      {"algorithm", "/case/algorithm"},
      {"variant", "/case/variant"},
      {"dtype", "/case/dtype"},
      {"n_elements", "/case/n"},
      {"tuning", "/case/tuning"},
      {"data", "/case/data"},
      {"seed", "/case/seed"},
      {"threads", "/case/threads"},
      {"mode", "/case/mode"},
      {"compulsory_bytes", "/case/bytes_min"},
      {"operations", "/case/operations"},
      {"digest_xxh3_128", "/verify/digest"},
      {"samples", "/timing/kernel/n"},
      {"kernel_median_ns", "/timing/kernel/median_ns"},
      {"kernel_ci95_low_ns", "/timing/kernel/ci95_lo_ns"},
      {"kernel_ci95_high_ns", "/timing/kernel/ci95_hi_ns"},
      {"kernel_min_ns", "/timing/kernel/min_ns"},
      {"h2d_median_ns", "/timing/h2d/median_ns"},
      {"d2h_median_ns", "/timing/d2h/median_ns"},
      {"round_trip_median_ns", "/timing/round_trip/median_ns"},
      {"end_to_end_median_ns", "/timing/end_to_end/median_ns"},
      {"job_read_ns", "/timing/phases/read"},
      {"job_upload_ns", "/timing/phases/upload"},
      {"job_kernel_ns", "/timing/phases/kernel"},
      {"job_download_ns", "/timing/phases/download"},
      {"job_write_ns", "/timing/phases/write"},
      {"first_call_ns", "/timing/first_call_ns"},
      {"elements_per_s", "/derived/elements_per_s"},
      {"bytes_per_s", "/derived/bytes_per_s"},
      {"operations_per_s", "/derived/operations_per_s"},
      {"fraction_of_ceiling", "/derived/fraction_of_ceiling"},
      {"ranks", "/ranks/count"},
      {"transport", "/ranks/transport"},
      {"sent_bytes", "/ranks/sent_bytes"},
      {"exchanges", "/ranks/exchanges"},
      {"exchange_ns", "/ranks/exchange_ns"},
      {"latency_ns", "/ranks/latency_ns"},
      {"link_bytes_per_s", "/ranks/link_bytes_per_s"},
      {"version", "/tool/version"},
      {"commit", "/tool/commit"},
  };
  json r = made_up_records()[1];
  for (const char* clock : {"h2d", "d2h", "round_trip", "end_to_end"}) r["timing"][clock] = r["timing"]["kernel"];
  r["ranks"]["transport"] = r["reason"] = "";
  unsigned next = 1000;
  for (const auto& [column, path] : columns) {
    json& value = r[json::json_pointer(path)];
    ++next;
    value = value.is_string() ? json("text " + std::to_string(next)) : json(next);
  }
  const scratch where;
  csv_file file(where.folder / "table.csv");
  const std::size_t rows = 200;  // more than are written at once
  for (std::size_t row = 0; row < rows; ++row) file.add(typed({r}).front());
  file.commit();
  std::istringstream lines(contents(where.folder / "table.csv"));
  std::string head, line;
  std::getline(lines, head, '\r');
  const std::vector<std::string> names = cells_of_csv(head);
  std::size_t found = 0;
  while (lines.get(), std::getline(lines, line, '\r')) {
    const std::vector<std::string> got = cells_of_csv(line);
    ASSERT_EQ(got.size(), names.size());
    ++found;
    for (const auto& [column, path] : columns) {
      const auto at = std::find(names.begin(), names.end(), column);
      ASSERT_NE(at, names.end()) << column;
      const json& expected = r[json::json_pointer(path)];
      const std::string& value = got[static_cast<std::size_t>(at - names.begin())];
      if (expected.is_string())
        EXPECT_EQ(value, expected.get<std::string>()) << column;
      else
        EXPECT_EQ(std::stod(value), expected.get<double>()) << column;
    }
  }
  EXPECT_EQ(found, rows);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

}  // namespace
}  // namespace tilewise::report
