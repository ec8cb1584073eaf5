// SPDX-License-Identifier: Apache-2.0
// A measurement with data that was asked for is a problem of its own: the page names the data, and neither merges nor
// compares it with others.
#include "fixture.hpp"
#include "page.hpp"
#include "record/json.hpp"
#include "report/compare/comparison.hpp"
#include "report/report.hpp"
#include "report/standing/matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilewise::report {
namespace {

using nlohmann::json;

/// The records of one size with other data, but unchanged groups.
std::vector<json> with_data(const char* data, std::uint64_t n = 64) {
  std::vector<json> records = of_no_document(made_up_records());
  for (json& r : records)
    if (r["case"]["n"] == n) r["case"]["data"] = data;
  return records;
}

TEST(ReportData, OtherDataHavePanelsThatSaySo) {
  const model m = make_model(typed(with_data("sorted")));
  ASSERT_EQ(m.panels.size(), 6u);
  for (const panel& p : m.panels) {
    EXPECT_EQ(p.sizes().count(64), p.title.ends_with(" data=sorted")) << p.title;
    EXPECT_EQ(p.sizes().size() == 1, p.data == "sorted") << p.title;
    EXPECT_EQ(p.title.find("sorted, "), p.title.npos) << "it says so once" << p.title;
  }
  EXPECT_EQ(make_model(typed(with_data("uniform"))).panels.size(), 3u);
}

TEST(ReportData, RecordsOfOneGroupAndOtherDataDoNotReplaceOneAnother) {
  std::vector<json> records = made_up_records(), others = with_data("sorted");
  std::erase_if(others, [](const json& r) { return r["case"]["data"] != "sorted"; });
  records.insert(records.end(), others.begin(), others.end());
  const model m = make_model(typed(records));
  EXPECT_TRUE(m.warnings.empty());
  EXPECT_EQ(m.panels.size(), 6u);
}

TEST(ReportData, WhatDocumentsAskForIsNotWhatMachinesAreComparedBy) {
  std::vector<json> records = of_no_document(made_up_records());
  EXPECT_EQ(main_panels(make_model(typed(records))).front()->title, "scan f32, op=sum kind=inclusive");
  for (json& r : records)
    if (r["case"]["dtype"] == "f32")
      r["experiment"] = {
          {"document", "A. Body"}, {"baseline", ""}, {"first_outputs", ""}, {"published", json::array()}};
  EXPECT_EQ(main_panels(make_model(typed(records))).front()->title, "scan f64, op=sum kind=inclusive");
}

TEST(ReportData, TheUsualDataAreThoseOfTables) {
  const model m = make_model(typed(with_data("sorted", 268435456)));
  for (const panel* p : main_panels(m)) EXPECT_EQ(p->data, "") << p->title;
  EXPECT_EQ(matrix_markdown(m).find("data="), std::string::npos);
  const std::string table = markdown(m);
  EXPECT_NE(table.find("| scan f32, op=sum kind=inclusive init=none data=sorted | 268,435,456 |"), std::string::npos)
      << table;
  EXPECT_EQ(table.find("| scan f32, op=sum kind=inclusive init=none | 268,435,456 |"), std::string::npos) << table;
  std::vector<json> alone = with_data("sorted");
  std::erase_if(alone, [](const json& r) { return r["case"]["data"] != "sorted"; });
  EXPECT_NE(matrix_markdown(make_model(typed(alone))).find("data=sorted"), std::string::npos);
}

TEST(ReportData, TablesHaveOtherDataOfAnAlgorithmWithoutSettings) {
  std::vector<json> records = with_data("sorted", 268435456);
  for (json& r : records) r["case"]["settings"] = json::object();
  const std::string table = markdown(make_model(typed(records)));
  EXPECT_NE(table.find("| scan f32, data=sorted | 268,435,456 |"), std::string::npos) << table;
}

TEST(ReportData, OtherDataOnAnotherMachineHaveALineOfTheirOwnInTheMatrix) {
  const auto lines_with = [](const char* data) {
    std::vector<json> records = made_up_records();
    for (json r : made_up_records()) {
      r["host"]["hostname"] = "another";
      r["device"]["description"] = r["device"]["description"].get<std::string>() + " II";
      r["case"]["data"] = data;
      records.push_back(r);
    }
    const model m = make_model(typed(records));
    return make_matrix(cells_of(matrix_panels(m))).lines.size();
  };
  EXPECT_EQ(lines_with("uniform"), 2u);
  EXPECT_EQ(lines_with("sorted"), 4u);
}

TEST(ReportData, ADocumentsOwnDataAndTheSameAskedForAreApart) {
  std::vector<json> records = with_data("sorted"), others = records;
  for (json& r : others)
    r["experiment"] = {{"document", "A. Body, Sums, 2020"},
                       {"baseline", "scan/serial"},
                       {"first_outputs", ""},
                       {"published", json::array()}};
  std::erase_if(others, [](const json& r) { return r["case"]["data"] != "sorted"; });
  records.insert(records.end(), others.begin(), others.end());
  const model m = make_model(typed(records));
  EXPECT_TRUE(m.warnings.empty());
  EXPECT_EQ(m.panels.size(), 9u);
}

TEST(ReportData, OtherDataAreNotCompared) {
  const row_table usual(typed(made_up_records())), sorted(typed(with_data("sorted")));
  const std::size_t apart =
      static_cast<std::size_t>(std::count_if(usual.begin(), usual.end(), [](const row& r) { return r.n == 64; }));
  EXPECT_EQ(compare(usual, usual).pairs, usual.size());
  EXPECT_EQ(compare(usual, sorted).pairs, usual.size() - apart);
}

TEST(ReportData, ADocumentsOwnAndTheUsualAreNamedAsBefore) {
  std::vector<json> records = made_up_records();
  for (json& r : records) {
    r["case"]["data"] = "sorted";
    r["experiment"] = {{"document", "A. Body, Sums, 2020"},
                       {"baseline", "scan/serial"},
                       {"first_outputs", ""},
                       {"published", json::array()}};
  }
  for (const row& r : row_table(typed(records))) EXPECT_EQ(r.asked_data, "");
  for (const panel& p : make_model(typed(records)).panels) EXPECT_TRUE(p.title.ends_with(", sorted")) << p.title;
  json product = made_up_records().front();
  product["case"]["settings"] = {{"op", "product"}};
  for (const auto& [data, asked] : {std::pair("near_one", ""), {"uniform", "uniform"}, {"subnormal", "subnormal"}}) {
    product["case"]["data"] = data;
    const record::result kept = record::from_json(product);
    EXPECT_EQ(record::asked_data(kept), asked);
  }
  for (const auto& [algorithm, asked] : {std::pair("copy", ""), {"scan", "constant"}}) {
    json roof = made_up_records().front();
    roof["case"]["algorithm"] = algorithm, roof["case"]["data"] = "constant";
    EXPECT_EQ(record::asked_data(record::from_json(roof)), asked) << "a roof has no others";
  }
}

TEST(ReportData, APeersNameIsNoMarkupOfATable) {
  std::vector<json> records = made_up_records();
  for (json& r : records)
    if (r["case"]["variant"] == "scan/cuda:cub") r["case"]["variant"] = "scan/cuda:x|<b>", r["case"]["name"] = "x|<b>";
  const std::string table = markdown(make_model(typed(records)));
  EXPECT_NE(table.find("cuda:x\\|\\<b\\>"), std::string::npos);
  EXPECT_EQ(table.find("x|"), std::string::npos);
}

}  // namespace
}  // namespace tilewise::report
