// SPDX-License-Identifier: Apache-2.0
// The matrix of algorithms and processors: what shares a column, what shares a line, and the table in Markdown.
#include "page.hpp"
#include "report/report.hpp"
#include "report/standing/matrix.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace tilewise::report {
namespace {

using nlohmann::json;

struct tested {
  model from;
  std::vector<matrix_cell> cells;
  matrix made;

  explicit tested(const std::vector<json>& records)
      : from(make_model(typed(records))),
        cells(cells_of(matrix_panels(from), other_panels(from, matrix_panels(from)))),
        made(make_matrix(cells)) {}
};

/// The made-up records, and the same from another machine, whose processors' names end in `suffix`.
std::vector<json> on_two_machines(const std::string& suffix) {
  std::vector<json> records = made_up_records();
  for (json r : made_up_records()) {
    r["host"]["hostname"] = "another";
    r["device"]["description"] = r["device"]["description"].get<std::string>() + suffix;
    records.push_back(r);
  }
  return records;
}

TEST(ReportMatrix, OtherProcessorsOfAnotherMachineStandInTheSameLine) {
  const tested one(made_up_records()), two(on_two_machines(" II"));
  ASSERT_EQ(one.made.lines.size(), 2u);
  EXPECT_EQ(two.made.lines.size(), one.made.lines.size());
  EXPECT_EQ(two.made.columns.size(), 2 * one.made.columns.size());
  for (std::size_t line = 0; line < two.made.lines.size(); ++line) {
    const auto measured = [](const matrix::line& of) {
      return of.cells.size() - static_cast<std::size_t>(std::count(of.cells.begin(), of.cells.end(), nullptr));
    };
    EXPECT_EQ(measured(two.made.lines[line]), 2 * measured(one.made.lines[line]));
    EXPECT_EQ(two.made.lines[line].problem, one.made.lines[line].problem);
  }
}

TEST(ReportMatrix, TheSameProcessorsOfAnotherMachineHaveALineOfTheirOwn) {
  const tested one(made_up_records()), two(on_two_machines(""));
  EXPECT_EQ(two.made.columns, one.made.columns);
  ASSERT_EQ(two.made.lines.size(), 2 * one.made.lines.size());
  for (const matrix::line& line : two.made.lines) EXPECT_NE(line.words().find(", on "), std::string::npos);
}

TEST(ReportMatrix, TheProcessorThatIsTheFastestOfMostLinesComesFirst) {
  const auto first_column = [](double of_cpu) {
    std::vector<json> records = made_up_records();
    for (json& r : records)
      if (r["device"]["is_cpu"].get<bool>() && r["timing"].is_object())
        for (const char* key : {"median_ns", "ci95_lo_ns", "ci95_hi_ns"})
          r["timing"]["kernel"][key] = r["timing"]["kernel"][key].get<double>() * of_cpu;
    return tested(records).made.columns.front();
  };
  EXPECT_TRUE(first_column(1).starts_with("cuda:0")) << first_column(1);
  EXPECT_TRUE(first_column(1e-4).starts_with("cpu")) << first_column(1e-4);
}

TEST(ReportMatrix, ADeviceThatDriversCountDifferentlyIsOneColumn) {
  const std::vector<json> usual = of_no_document(made_up_records());
  std::vector<json> records = usual;
  for (json& r : records)  // as if another driver had been installed before this algorithm was measured
    if (r["case"]["algorithm"] != "scan" && r["device"]["name"] == "opencl:0") {
      r["device"]["name"] = "opencl:1";
      r["argv"].push_back("--max-time");
    }
  EXPECT_EQ(tested(records).made.columns.size(), tested(usual).made.columns.size());

  std::vector<json> twice = usual;  // measured again later
  for (json r : usual)
    if (r["device"]["name"] == "opencl:0") {
      r["device"]["name"] = "opencl:1";
      r["argv"].push_back("--max-time");
      twice.push_back(r);
    }
  EXPECT_EQ(tested(twice).made.columns.size(), tested(usual).made.columns.size());

  json second = *std::find_if(records.begin(), records.end(), [](const json& r) {
    return r["device"]["name"] == "cuda:0" && r["case"]["variant"] == "scan/cuda:lookback" && r["status"] == "ok";
  });
  second["device"]["name"] = "cuda:1";
  records.push_back(second);
  EXPECT_EQ(tested(records).made.columns.size(), tested(usual).made.columns.size() + 1)
      << "two of one kind beside each other";
}

/// What stands in the cell of the first line whose column begins so.
std::string apart_in(const matrix& of, std::string_view column) {
  for (std::size_t i = 0; i < of.columns.size(); ++i)
    if (of.columns[i].starts_with(column)) return of.lines.front().apart[i];
  return "no such column";
}

TEST(ReportMatrix, AnotherSizeThanTheLinesStandsInItsCell) {
  std::vector<json> records = made_up_records();
  std::erase_if(records, [](const json& r) {
    return r["device"]["name"] == "opencl:0" && r["case"]["n"].get<std::uint64_t>() > 1048576;
  });
  const tested t(records);
  EXPECT_TRUE(t.made.lines.front().words().ends_with(", n\u00a0=\u00a0268,435,456")) << t.made.lines.front().words();
  EXPECT_EQ(apart_in(t.made, "opencl"), "at n\u00a0=\u00a01,048,576");
  EXPECT_EQ(apart_in(t.made, "cuda"), "");
  EXPECT_NE(matrix_of(body_of(page_of(records))).find("<small>at n\u00a0=\u00a01,048,576</small>"), std::string::npos);
}

TEST(ReportMatrix, AProcessorThatOnlyAnotherProblemWasMeasuredOnShowsThat) {
  std::vector<json> records = of_no_document(made_up_records());
  const auto is_of_scan = [](const json& r) {
    return r["device"]["name"] == "opencl:0" && r["case"]["algorithm"] == "scan";
  };
  for (json& r : records)
    if (is_of_scan(r)) r["case"]["dtype"] = "i32", r["case"]["group"] = "i32" + r["case"]["group"].get<std::string>();
  const tested t(records);
  EXPECT_EQ(t.made.columns.size(), tested(of_no_document(made_up_records())).made.columns.size());
  EXPECT_TRUE(apart_in(t.made, "opencl").starts_with("another problem: i32 ")) << apart_in(t.made, "opencl");
  EXPECT_TRUE(apart_in(t.made, "opencl").ends_with(", n\u00a0=\u00a0268,435,456")) << apart_in(t.made, "opencl");
  EXPECT_EQ(apart_in(t.made, "cuda"), "");

  std::erase_if(records, is_of_scan);
  EXPECT_EQ(apart_in(tested(records).made, "opencl"), "");

  records = of_no_document(made_up_records());
  for (json& r : records)
    if (r["device"]["name"] == "opencl:0")
      r["case"]["dtype"] = "i32", r["case"]["group"] = "i32" + r["case"]["group"].get<std::string>();
  EXPECT_EQ(tested(records).made.columns.size(), 2u) << "which makes no column";
}

TEST(ReportMatrix, OfSeveralMachinesACellOfALineOfTwoTellsWhichItIs) {
  std::vector<json> records = made_up_records();
  for (const json& r : made_up_records())
    for (const char* host : {"second", "third"})
      if (r["device"]["is_cpu"] == true) {
        records.push_back(r);
        records.back()["host"]["hostname"] = host;
        records.back()["device"]["description"] = "the same";
      }
  const tested t(records);
  ASSERT_EQ(t.made.lines.size(), 4u) << "two algorithms, each on a third machine as well";
  EXPECT_TRUE(apart_in(t.made, "cpu · the same").starts_with("on second (")) << apart_in(t.made, "cpu · the same");
  EXPECT_EQ(apart_in(t.made, "cuda"), "");
  EXPECT_TRUE(t.made.lines[1].machine.starts_with("third ("));
}

TEST(ReportMatrix, TheLargestProblemOfAnAlgorithmComesFirst) {
  std::vector<json> records = on_two_machines("");
  std::erase_if(records, [](const json& r) {  // which leaves it fewer results
    const bool is_large = r["case"]["n"].get<std::uint64_t>() > 1048576;
    return r["host"]["hostname"] == "another" ? r["case"]["peer"] == true || !is_large : is_large;
  });
  const tested t(records);
  ASSERT_EQ(t.made.lines.size(), 4u);
  EXPECT_TRUE(t.made.lines[0].machine.starts_with("another ("));
  EXPECT_EQ(t.made.lines[0].algorithm, t.made.lines[1].algorithm);
  EXPECT_TRUE(t.made.lines[2].machine.starts_with("another ("));
}

TEST(ReportMatrix, RanksOnTheCpuHaveNoColumnAndGroupsOfOthersOne) {
  const auto of_groups = [](const char* of, const char* name, bool are_cpus) {
    std::vector<json> records;
    for (json r : made_up_records()) {
      if (!r["device"]["name"].get<std::string>().starts_with(of)) continue;
      r["device"]["name"] = name;
      r["device"]["backend"] = "group";
      r["device"]["is_cpu"] = are_cpus;
      records.push_back(r);
    }
    return records;
  };
  const std::vector<std::string> usual = tested(made_up_records()).made.columns;
  std::vector<json> records = made_up_records();
  for (const char* name : {"2*cpu:serial", "4*mpi:cpu:serial"})
    for (const json& r : of_groups("cpu", name, true)) records.push_back(r);
  EXPECT_EQ(tested(records).made.columns, usual);
  const std::string body = body_of(page_of(records)), note = "Ranks on a CPU have no column";
  EXPECT_EQ(body.find("2*cpu:serial (", body.find("The ladder")), std::string::npos);
  EXPECT_NE(body.find(note), std::string::npos);
  EXPECT_EQ(body_of(page_of(made_up_records())).find(note), std::string::npos);
  EXPECT_EQ(tested(of_groups("cpu", "4*mpi:cpu:serial", true)).made.columns.size(), 1u) << "nothing else was measured";
  for (const json& r : of_groups("cuda", "cuda:*", false)) records.push_back(r);
  EXPECT_EQ(tested(records).made.columns.size(), usual.size() + 1);
}

TEST(ReportMatrix, WhatWasMeasuredForScalingHasALineOnlyWhereItIsAlone) {
  std::vector<json> of_ranks;
  for (const json& r : made_up_records())
    for (const char* device : {"", "2*cpu:serial", "4*cpu:serial"}) {
      if (r["device"]["is_cpu"] != true) continue;
      json& added = of_ranks.emplace_back(r);
      added["host"]["hostname"] = "another";
      if (*device == 0) continue;
      added["device"]["name"] = device;
      added["device"]["backend"] = "group";
    }
  EXPECT_EQ(tested(of_ranks).made.lines.size(), 2u);
  std::vector<json> records = of_ranks;
  for (const json& r : made_up_records()) records.push_back(r);
  const tested all(records), usual(made_up_records());
  ASSERT_EQ(all.made.lines.size(), usual.made.lines.size());
  EXPECT_EQ(all.made.shown().size(), usual.made.shown().size());
  EXPECT_EQ(apart_in(all.made, "cpu").find("another"), std::string::npos) << "its cell is that of the other machine";
  std::erase_if(records,
                [](const json& r) { return r["host"]["hostname"] != "another" && r["device"]["is_cpu"] == true; });
  EXPECT_EQ(tested(records).made.shown().size(), usual.made.shown().size()) << "where nothing else is";
}

/// The lines of the table of ratios, as cells.
std::vector<std::vector<std::string>> table_of(const std::string& text) {
  EXPECT_TRUE(text.starts_with("<!-- results:begin -->\n|")) << text;
  EXPECT_TRUE(text.ends_with("|\n<!-- results:end -->\n")) << text;
  std::vector<std::vector<std::string>> table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ")) continue;
    std::vector<std::string>& cells = table.emplace_back();
    for (std::size_t begin = 2, end; (end = line.find(" |", begin)) != std::string::npos; begin = end + 3)
      cells.push_back(line.substr(begin, end - begin));
  }
  return table;
}

TEST(ReportMatrix, AsMarkdownAnAlgorithmHasALineAndACellOneRatio) {
  for (const std::vector<json>& records : {on_two_machines(" II"), on_two_machines("")}) {
    const tested t(records);
    const auto table = table_of(matrix_markdown(t.from));
    std::set<std::string> algorithms;
    for (std::size_t i = 0; i < table.size(); ++i) {
      ASSERT_EQ(table[i].size(), t.made.columns.size() + 1);
      EXPECT_TRUE(algorithms.insert(table[i].front().substr(0, table[i].front().find(' '))).second) << table[i].front();
      for (std::size_t cell = 1; i > 0 && cell < table[i].size(); ++cell)
        EXPECT_TRUE(std::regex_match(table[i][cell], std::regex("–|(\\? )?[0-9.]+|\\*\\*(\\? )?[0-9.]+\\*\\*")))
            << table[i][cell];
    }
    EXPECT_GT(table.size(), 1u);
  }
}

TEST(ReportMatrix, AsMarkdownAColumnWithoutAPeerHasADashAndALineWithoutOneIsLeftOut) {
  std::vector<json> records = made_up_records();
  const auto without_peers = [&](const char* device) {
    std::erase_if(records, [&](const json& r) {
      return r["case"]["peer"] == true && r["device"]["name"].get<std::string>().starts_with(device);
    });
    return table_of(matrix_markdown(make_model(typed(records))));
  };
  const std::vector<std::string> columns = without_peers("none").front();
  const auto table = without_peers("cpu");
  ASSERT_GT(table.size(), 1u);
  for (std::size_t i = 1; i < columns.size(); ++i)
    if (columns[i].starts_with("cpu"))
      for (std::size_t line = 1; line < table.size(); ++line) EXPECT_EQ(table[line][i], "–") << columns[i];
  EXPECT_EQ(without_peers("").size(), 1u) << "the head alone";
}

}  // namespace
}  // namespace tilewise::report
