// SPDX-License-Identifier: Apache-2.0
// The columns of the page's tables, with expected values by hand.
#include "report/format.hpp"
#include "tables.hpp"

namespace tilewise::report {
namespace {

using nlohmann::json;

TEST(ReportTables, ADeviceIsToldWithEachOfItsFacts) {
  std::size_t seen = 0;
  const std::vector<json> records = scans_with([&](json& r) {
    if (r["device"]["name"] == "cuda:0") r["noise"]["min_effect"] = seen++ % 3 == 0 ? 0.001 : 0.05;
    if (r["device"]["name"] != "opencl:0") return;
    r["device"]["name"] = "2*opencl:0", r["device"]["backend"] = "group";
  });
  const table_cells rows = rows_below(page_of(records), "Devices.");
  EXPECT_EQ(row_of(rows, "cuda:0"), (cell_list{"cuda:0", "Imaginary GPU 9000", "CUDA", "1.0 (made up)", "132",
                                               "140 GiB", "50.0 MiB", "228 KiB", "–", "5.0 %"}));
  EXPECT_EQ(row_of(rows, "2*opencl:0"), (cell_list{"2*opencl:0", "Imaginary GPU 9000", "Imaginary OpenCL",
                                                   "1.0 (made up)", "–", "–", "50.0 MiB", "–", "–", "1.2 %"}));
}

void set_clock(json& clock, double ns) {
  clock["median_ns"] = ns, clock["ci95_lo_ns"] = 0.99 * ns, clock["ci95_hi_ns"] = 1.01 * ns;
}

TEST(ReportTables, CopiesAndKernelStandUnderTheirNames) {
  const std::vector<json> records = scans_with([](json& r) {
    if (!r["timing"].is_object() || !r["timing"].contains("h2d")) return;
    const bool is_small = r["case"]["n"] < 65536;
    scale(r, (is_small ? 6e6 : 2e6) / r["timing"]["kernel"]["median_ns"].get<double>());
    set_clock(r["timing"]["h2d"], 1e6);
    set_clock(r["timing"]["d2h"], 5e6);
    set_clock(r["timing"]["round_trip"], 9e6);
  });
  const std::string page = page_of(records);
  const table_cells trips = rows_below(page, "Median times of the fastest variant with its copies.");
  ASSERT_FALSE(trips.empty());
  const std::vector<std::string>& last = row_of(trips, "268,435,456");
  EXPECT_EQ(cell_list(last.begin() + 2, last.end()), (cell_list{"1.00 ms", "2.00 ms", "5.00 ms", "9.00 ms"}));
  EXPECT_NE(page.find("268,435,456 the kernel takes 25 % of the time"), std::string::npos);
  for (const json& chart : charts_of(page)) {
    if (chart["kind"] != "stack") continue;
    EXPECT_EQ(chart["labels"].back(), "268,435,456");
    const auto share = [&](std::size_t part) { return chart["parts"][part]["values"].back(); };
    EXPECT_EQ((json{share(0), share(1), share(2)}), (json{0.125, 0.25, 0.625}));
    EXPECT_EQ(chart["parts"][0]["label"], "to the device");
    EXPECT_EQ(chart["parts"][2]["label"], "back");
  }
  const table_cells against = rows_below(page, "Round trip of the device against the fastest of the CPU.");
  ASSERT_FALSE(against.empty());
  for (const auto& row : against) EXPECT_EQ(row[1], "9.00 ms");
}

TEST(ReportTables, AMomentHasItsTimeAndItsResidual) {
  const table_cells rows = rows_below(page_of(made_up_records()), "The moments that were kept.");
  const std::vector<std::string>& early = row_of(rows, "1,000");
  EXPECT_EQ((cell_list{early[1], early[2], early[4]}), (cell_list{"500", "0.0000300", ""}));
  const std::vector<std::string>& published = row_of(rows, "10,000");
  EXPECT_EQ((cell_list{published[1], published[2], published[4]}), (cell_list{"5,000", "0.000300", "as the original"}));
}

TEST(ReportTables, EachRungHasItsFactorsOverTheOneBelowAndOverTheDefinition) {
  const std::string page = page_of(scans_with([](json&) {}));
  std::size_t ladders = 0;
  for (const json& chart : charts_of(page)) {
    if (chart["kind"] != "bars") continue;
    const json& bars = chart["bars"];
    const auto serial = std::find_if(bars.begin(), bars.end(), [](const json& b) { return b["role"] == "serial"; });
    if (serial == bars.end()) continue;
    ++ladders;
    for (std::size_t i = 1; i < bars.size(); ++i) {
      const double speed = bars[i]["value"], below = bars[i - 1]["value"], first = (*serial)["value"];
      const std::string step = "× " + factor(speed / below);
      EXPECT_TRUE(bars[i]["note"].get<std::string>().starts_with(step)) << bars[i] << step;
      EXPECT_TRUE(speed >= below || bars[i]["role"] == "limit") << "the slowest first";
      const auto is_told = [&](const std::vector<std::string>& row) {
        return row[0] == bars[i]["label"] && row[3] == step && row[4] == factor(speed / first);
      };
      const table_cells rungs = rows_below(page, "Each rung, slowest first.");
      EXPECT_TRUE(std::any_of(rungs.begin(), rungs.end(), is_told)) << bars[i];
    }
  }
  EXPECT_GE(ladders, 3u);
}

}  // namespace
}  // namespace tilewise::report
