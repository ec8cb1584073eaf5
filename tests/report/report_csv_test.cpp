// SPDX-License-Identifier: Apache-2.0
// The table for a spreadsheet.
#include "page.hpp"
#include "record/published.hpp"

#include <gtest/gtest.h>

namespace tilewise::report {
namespace {

using nlohmann::json;

TEST(ReportCsv, CellsAreNoFormulas) {
  std::vector<json> records{made_up_records().front()};
  records[0]["reason"] = "=HYPERLINK(\"http://injected.invalid\")";
  const std::string text = csv_of(records);
  EXPECT_NE(text.find("\"'=HYPERLINK(\"\"http://injected.invalid\"\")\""), std::string::npos);
  for (const char* start : {"=", "+", "-", "@", "\t", "\r"})
    EXPECT_EQ(csv_of(hostile_records(start)).find(std::string(",\"") + start), std::string::npos) << start;
}

TEST(ReportCsv, OneRowARecord) {
  EXPECT_EQ(times_in(csv_of(made_up_records()), "\r\n"), made_up_records().size() + 1);
  EXPECT_NE(csv_of(made_up_records()).find(",kernel_median_ns,"), std::string::npos);
}

/// The last five cells of the row of a variant.
std::string document_cells(const std::string& csv, const std::string& variant) {
  const std::size_t at = csv.find("\"" + variant + "\""), end = csv.find("\r\n", at);
  std::size_t begin = end;
  for (int cells = 0; cells < 5; ++cells) begin = csv.rfind(',', begin - 1);
  return csv.substr(begin, end - begin);
}

TEST(ReportCsv, ADocumentsRowHasItsProgramItsFigureAndItsSpeedup) {
  std::vector<json> records = scans_with([](json& r) {
    r["experiment"] = {{"document", "A. Body"}, {"baseline", "scan/serial"}, {"baseline_device", "cpu:threads"},
                       {"first_outputs", ""},   {"system", "a program"},     {"published", json::array()}};
  });
  std::erase_if(records, [](const json& r) { return r["case"]["n"] != 67108865; });
  for (json& r : records) {
    if (r["case"]["variant"] == "scan/serial") r["timing"]["kernel"]["median_ns"] = 3e9;
    if (r["case"]["variant"] != "scan/cuda:lookback") continue;
    r["timing"]["kernel"]["median_ns"] = 2e9;
    r["experiment"]["published"] = {
        {{"system", "a program"}, {"machine", "one"}, {"ns", 4e9}, {"with_transfers", true}}};
  }
  std::reverse(records.begin(), records.end());  // the baseline may come last
  const std::string csv = csv_of(records);
  EXPECT_NE(csv.find(",document,program,published_ns,published_with_transfers,published_speedup,speedup\r\n"),
            csv.npos);
  EXPECT_EQ(document_cells(csv, "scan/cuda:lookback"), ",\"a program\",4000000000.0,true,,1.5");
  EXPECT_EQ(document_cells(csv, "scan/serial"), ",\"a program\",,,,1.0");
  EXPECT_EQ(document_cells(csv, "copy/cuda"), ",\"a program\",,,,") << "a limit";
}

TEST(ReportCsv, AFigureOfOneTuningStandsBesideThatOnly) {
  std::vector<json> records = scans_with([](json& r) {
    const json time{{"system", "work-efficient scan"},
                    {"machine", "the fastest of its devices, not named; local size 64"},
                    {"ns", 4401640.0},
                    {"with_transfers", false}};
    r["experiment"] = {{"document", record::prefix_sum_document},
                       {"baseline", "scan/serial"},
                       {"baseline_device", ""},
                       {"first_outputs", ""},
                       {"published", json::array({time})}};
    r["case"]["tuning"] = r["case"]["variant"] == "scan/cuda:lookback" ? "group_size=64 carry=local" : "group_size=640";
  });
  std::erase_if(records, [](const json& r) { return r["case"]["n"] != 67108865; });
  const std::string csv = csv_of(records);
  EXPECT_EQ(times_in(csv, ",4401640.0,false,"), 1u);
  EXPECT_NE(document_cells(csv, "scan/cuda:lookback").find(",4401640.0,false,"), std::string::npos);
}

}  // namespace
}  // namespace tilewise::report
