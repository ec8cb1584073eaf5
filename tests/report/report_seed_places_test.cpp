// SPDX-License-Identifier: Apache-2.0
// What the documents' chapters say of threads, ranks, devices and machines: the polynomial document's tables, who wins
// and who waits, and the devices of several machines in one chart.
#include "documents_fixture.hpp"
#include "tables.hpp"

#include <set>

namespace tilewise::report {
namespace {

using nlohmann::json;

/// The document's programs on 16 threads, 4 ranks and one device.
std::vector<json> programs() {
  std::vector<json> records =
      document_records(record::polynomials_document, {65536, 65536}, "polymul/cpu:naive",
                       {{"scan/serial", "polymul/cpu:naive", "naive CPU, threads"},
                        {"scan/cpu:std", "polymul/group:naive", "naive, MPI"},
                        {"scan/opencl:chunked", "polymul/opencl:global", "naive GPU, global memory"},
                        {"scan/opencl:blelloch", "polymul/opencl:local", "naive GPU, local memory"},
                        {"scan/opencl:blelloch", "polymul/opencl:karatsuba_host", "Karatsuba GPU, depth 3"}});
  for (json& r : records) {
    r["case"]["dtype"] = "i32", r["case"]["threads"] = 16;
    if (r["case"]["variant"] == "polymul/opencl:karatsuba_host") r["case"]["tuning"] = "depth=3 base=512";
    if (r["case"]["variant"] != "polymul/group:naive") continue;
    r["device"]["name"] = "4*cpu:serial", r["device"]["backend"] = "group", r["case"]["peer"] = false;
    r["timing"]["round_trip"] = r["timing"]["kernel"];
    r["timing"]["round_trip"]["median_ns"] = 1.0;
    r["ranks"] = {{"count", 4},
                  {"transport", "threads"},
                  {"sent_bytes", 1000},
                  {"exchanges", 2},
                  {"exchange_ns", 5000.0},
                  {"latency_ns", 12300.0},
                  {"link_bytes_per_s", 6.2e9}};
  }
  return records;
}

double kernel_of(const std::vector<json>& records, const char* variant) {
  for (const json& r : records)
    if (r["case"]["variant"] == variant) return r["timing"]["kernel"]["median_ns"];
  return 0;
}

TEST(ReportSeedPlaces, TheArchitecturesHaveTheDocumentsWordsAndThisMachinesFigures) {
  const char* const caption = "Published, and below that this machine.";
  const table_cells rows = rows_below(page_of(programs()), caption);
  EXPECT_EQ(rows.size(), 7u) << "as many as the document has";
  EXPECT_EQ(row_of(rows, "Parallelism Scale"),
            (cell_list{"Parallelism Scale", "~8-16 threadshere: 16 threads", "Scalable to N nodeshere: 4 ranks",
                       "~24,576 threads (96 EUs × 256)opencl:0: 132 units × 256 = 33,792 items"}));
  EXPECT_EQ(row_of(rows, "Synchronization Cost")[2], "High (network latency)here: 12.3 µs, the shortest exchange");
  EXPECT_EQ(row_of(rows, "Memory Bandwidth"), (cell_list{"Memory Bandwidth", "~40 GB/s (DDR4)here: not measured",
                                                         "Network-dependenthere: 6.20 GB/s, a long exchange",
                                                         "~200-300 GB/s (GDDR)opencl:0: not measured"}));
  std::vector<json> records = programs();
  for (const json& r : made_up_records())
    if (r["case"]["algorithm"] == "copy") records.push_back(r);
  const cell_list copied = row_of(rows_below(page_of(records), caption), "Memory Bandwidth");
  EXPECT_TRUE(copied[1].ends_with("GB/s, copy of 4.00 GiB")) << copied[1];
  EXPECT_TRUE(copied[3].ends_with("TB/s, copy of 4.00 GiB")) << "the largest, whatever a cache does: " << copied[3];
}

TEST(ReportSeedPlaces, LocalMemoryIsWeighedAgainstGlobalByWhatBothKernelsRead) {
  std::vector<json> records = programs();
  for (json& r : records)
    if (r["case"]["variant"] == "polymul/opencl:local") r["timing"]["kernel"] = {{"median_ns", 65536.0 * 65536 * 8}};
  const table_cells rows = rows_below(page_of(records), "Bandwidth here");
  EXPECT_EQ(row_of(rows, "Bandwidth")[2], "~3 TB/sopencl:0: ? 1.00 GB/s at 65536x65536")
      << "two coefficients of 4 bytes for a product";
  EXPECT_TRUE(row_of(rows, "Scalability")[2].ends_with("opencl:0: up to 29,184 coefficients in each factor"));
  EXPECT_EQ(row_of(rows, "Latency"),
            (cell_list{"Latency", "~200 cyclesopencl:0: not measured", "~20 cyclesopencl:0: not measured"}));
}

TEST(ReportSeedPlaces, ThreadsRanksAndDevicesAreHeldAgainstEachOther) {
  std::vector<json> records = programs();
  const auto wins = [&](const char* variant) {
    for (json& r : records) {
      const double ns = r["case"]["variant"] == variant ? 1e3 : 1e6;
      const json clock{{"median_ns", ns}, {"ci95_lo_ns", ns * 0.99}, {"ci95_hi_ns", ns * 1.01}};
      r["timing"]["kernel"] = clock;
      if (r["device"]["name"] == "opencl:0") r["timing"]["round_trip"] = clock;
    }
    return page_of(records);
  };
  EXPECT_NE(wins("polymul/cpu:naive").find("one core or threads: the fastest at every size"), std::string::npos);
  EXPECT_NE(wins("polymul/group:naive").find("ranks: the fastest at every size"), std::string::npos);
  EXPECT_NE(wins("polymul/opencl:global").find("opencl:0: the fastest at every size"), std::string::npos);
  EXPECT_NE(wins("polymul/opencl:global").find("ranks: the fastest at no size"), std::string::npos);
  for (json& r : records) r["device"]["is_cpu"] = true;
  EXPECT_NE(page_of(records).find("opencl:0 (the processor): the fastest at every size"), std::string::npos);
}

/// It names one method for two machines; in its own words they differ.
TEST(ReportSeedPlaces, PublishedBarsHaveTheDocumentsNames) {
  std::multiset<std::string> published;
  for (const json& chart : charts_of(page_of(programs())))
    for (const json& bar : chart.value("bars", json::array()))
      if (bar["note"] == "published") published.insert(bar["label"]);
  EXPECT_EQ(published.count("Karatsuba CPU Sequential (lab 5)"), 1u);
  EXPECT_EQ(published.size(), std::set<std::string>(published.begin(), published.end()).size());
}

/// The time of ranks is one and the same in the document's table, in its charts and where kinds are compared.
TEST(ReportSeedPlaces, RanksHaveOneTime) {
  const std::vector<json> records = programs();
  for (const json& chart : charts_of(page_of(records)))
    for (const char* parts : {"lines", "bars"})
      for (const json& part : chart.value(parts, json::array()))
        if (part["label"] == "naive, MPI" && part.contains("value")) {
          EXPECT_NEAR(part["value"].get<double>(),
                      kernel_of(records, "polymul/cpu:naive") / kernel_of(records, "polymul/group:naive"), 1e-6);
          return;
        }
  FAIL() << "no bar";
}

TEST(ReportSeedPlaces, EachProgramSaysWhereItWaits) {
  const std::string page = page_of(programs());
  const table_cells waits = rows_below(page, "Where the parts of a call wait");
  EXPECT_EQ(row_of(waits, "naive CPU, threads")[2], "threads meet once, at the end");
  EXPECT_EQ(row_of(waits, "naive, MPI")[2], "each of 4 ranks waits in 2 exchanges");
  EXPECT_EQ(row_of(waits, "Karatsuba GPU, depth 3")[2], "the host waits after each kernel");
  std::vector<json> alone = programs();
  for (json& r : alone) r["case"]["threads"] = 1;
  EXPECT_EQ(row_of(rows_below(page_of(alone), "Where the parts"), "naive CPU, threads")[2],
            "nowhere: there is one thread");
}

TEST(ReportSeedPlaces, TheLaunchesOfTheHybridAreCounted) {
  const auto counted = [](std::uint64_t n) {
    std::vector<json> records = programs();
    for (json& r : records) r["case"]["n"] = n, r["case"]["shape"] = {n, n};
    const cell_list row = rows_below(page_of(records), "Launches of the recursion").at(0);
    return cell_list(row.begin() + 1, row.begin() + 4);
  };
  EXPECT_EQ(counted(65536), (cell_list{"3", "27", "13"})) << "the document counts 27";
  EXPECT_EQ(counted(1024), (cell_list{"1", "3", "1"}));
  EXPECT_EQ(counted(256), (cell_list{"0", "1", "0"}));
}

/// A sweep of three sizes on two machines.
TEST(ReportSeedPlaces, DevicesOfSeveralMachinesShareAChart) {
  std::vector<json> records;
  for (const char* machine : {"here", "there"})
    for (const int size : {16, 64, 256})
      for (json r : document_records(record::prefix_sum_document, {67108865}, "scan/serial",
                                     {{"scan/opencl:blelloch", "scan/opencl:sweep_add", "work-efficient scan"}})) {
        r["case"]["tuning"] = "group_size=" + std::to_string(size);
        r["host"]["hostname"] = machine, r["device"]["description"] = std::string("GPU ") + machine;
        records.push_back(r);
      }
  const auto labels = [](const std::vector<json>& of) {
    std::multiset<std::string> all;
    for (const json& chart : charts_of(page_of(of)))
      if (chart["x"] == "group_size" && chart["lines"].size() > 1)
        for (const json& line : chart["lines"]) all.insert(line["label"]);
    return all;
  };
  EXPECT_EQ(labels(records), (std::multiset<std::string>{"GPU here as opencl:0", "GPU there as opencl:0"}));
  EXPECT_EQ(times_in(page_of(records), "<h3>Devices of all machines</h3>"), 1u);
  std::erase_if(records, [](const json& r) { return r["host"]["hostname"] == "there"; });
  EXPECT_EQ(labels(records).size(), 0u);
  EXPECT_EQ(times_in(page_of(records), "Devices of all machines"), 0u);
}

TEST(ReportSeedLecture, ItsIndexQuestionsAndItsLawsAreAnswered) {
  const std::string page = page_of(
      document_records("B. Body, a lecture", {8}, "reduce/serial", {{"scan/serial", "reduce/serial", "serial sum"}}));
  EXPECT_EQ(rows_below(page, "Elements of C that"), (table_cells{{"N = 16, b = 4", "256", "256", "0", "256", "0"},
                                                                 {"N = 16, b = 2", "256", "16", "240", "256", "0"},
                                                                 {"N = 16, b = 8", "256", "100", "0", "256", "0"}}));
  EXPECT_EQ(row_of(rows_below(page, "The laws for S = 0.5"), "32"), (cell_list{"32", "1.94", "16.5"}));
  EXPECT_NE(page.find("No program was measured on several processors."), page.npos);
  std::vector<json> ranks;
  for (const int number : {1, 2, 4})
    for (json r : programs()) {
      if (!r.contains("ranks")) continue;
      r["device"]["name"] = std::to_string(number) + "*cpu:serial", r["ranks"]["count"] = number;
      r["experiment"]["document"] = "B. Body, a lecture";
      const double ns = 8e6 / number;
      r["timing"]["kernel"] = {{"median_ns", ns}, {"ci95_lo_ns", ns * 0.99}, {"ci95_hi_ns", ns * 1.01}};
      ranks.push_back(r);
    }
  for (const json& chart : charts_of(page_of(ranks)))
    if (chart["x"] == "p, threads or ranks" && chart["lines"].size() == 4) {
      EXPECT_DOUBLE_EQ(chart["lines"][0]["points"][2][1], 4);
      return;
    }
  FAIL() << "no measured curve beside the laws";
}

}  // namespace
}  // namespace tilewise::report
