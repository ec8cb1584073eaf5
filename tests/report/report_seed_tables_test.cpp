// SPDX-License-Identifier: Apache-2.0
// The documents' own tables on the page: their words and digits, and what stands beside them.
#include "documents_fixture.hpp"
#include "report/format.hpp"
#include "tables.hpp"

#include <charconv>

namespace tilewise::report {
namespace {

using nlohmann::json;

std::vector<json> polynomial_records() {
  return document_records(record::polynomials_document, {65536, 65536}, "polymul/cpu:naive",
                          {{"scan/serial", "polymul/cpu:naive", "naive CPU, sequential"},
                           {"scan/opencl:blelloch", "polymul/opencl:global", "naive GPU, global memory"},
                           {"scan/opencl:chunked", "polymul/opencl:local", "naive GPU, local memory"}});
}

cell_list first_cells(const cell_list& row, std::size_t cells) { return {row.begin(), row.begin() + cells}; }

TEST(ReportSeedTables, TimesAndSpeedupsHaveTheDocumentsDigits) {
  const std::string page = page_of(polynomial_records());
  const table_cells large = rows_below(page, "Results — Degree 65,536"), labs = rows_below(page, "Cross-Lab");
  EXPECT_EQ(first_cells(row_of(large, "Naive CPU (Sequential)"), 3),
            (cell_list{"Naive CPU (Sequential)", "1085.05 ms", "1.0×"}));
  EXPECT_EQ(labs.size(), 8u);
  EXPECT_EQ(first_cells(labs.front(), 4),
            (cell_list{"Naive CPU Sequential (lab 5)", "~18,248.7 ms", "1.0×", "cpu:naive @cpu:threads"}));
  EXPECT_EQ(first_cells(labs.back(), 4), (cell_list{"Karatsuba GPU (depth 3) (lab bonus), with transfers", "108.61 ms",
                                                    "168.0×", "not measured here"}));
  EXPECT_EQ(row_of(labs, "Naive GPU - Global Memory (lab bonus), with transfers")[3], "opencl:global @opencl:0");
}

/// Catches a mistyped figure: the document's speedups are its times divided, in the digits that it shows.
TEST(ReportSeedTables, PublishedSpeedupsFollowFromPublishedTimes) {
  std::size_t compared = 0;
  for (const record::published_table& t : record::published_tables()) {
    const auto base =
        std::find_if(t.rows.begin(), t.rows.end(), [](const auto& r) { return r.speedup.starts_with("1.0"); });
    for (const record::published_row& r : t.rows) {
      double speedup = 0;
      std::from_chars(r.speedup.data(), r.speedup.data() + r.speedup.size(), speedup);
      if (speedup == 0) continue;
      EXPECT_NEAR(t.ns(*base) / t.ns(r), speedup, 0.055) << r.program << " of " << t.title;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 5u + 5u + 8u + 4u * 6u);
}

TEST(ReportSeedTables, WhatDoesNotFitInLocalMemoryHasTheRowItFellBackTo) {
  std::vector<json> records = polynomial_records();
  const std::string local = "Naive GPU - Local Memory*, with transfers";
  EXPECT_EQ(row_of(rows_below(page_of(records), "Results"), local)[3], "opencl:local @opencl:0");
  for (json& r : records)
    if (r["case"]["variant"] == "polymul/opencl:local")
      r["status"] = "skipped", r["reason"] = "no room", r["timing"] = nullptr, r["derived"] = nullptr;
  const std::string page = page_of(records);
  const cell_list shown = row_of(rows_below(page, "Results"), local);
  const cell_list global = row_of(rows_below(page, "Results"), "Naive GPU - Global Memory, with transfers");
  EXPECT_EQ(shown[3], "opencl:global @opencl:0in place of opencl:local");
  EXPECT_EQ(shown[4], global[4]) << "its time";
  EXPECT_EQ(shown.back(), "opencl:local is refused: no room");
  EXPECT_NE(page.find("fell back to global memory due to 64KB hardware limit"), page.npos) << "the document's remark";
}

TEST(ReportSeedTables, ARightResultHasItsBeginningAndItsSum) {
  std::vector<json> records = polynomial_records();
  for (json& r : records) r["experiment"]["check"] = "coefficient sum", r["experiment"]["check_value"] = "94";
  cell_list row = row_of(rows_below(page_of(records), "Results"), "Naive CPU (Sequential)");
  EXPECT_EQ(cell_list(row.begin() + 7, row.begin() + 9), (cell_list{"2 7", "94"}));
  for (json& r : records) r["verify"] = nullptr;
  row = row_of(rows_below(page_of(records), "Results"), "Naive CPU (Sequential)");
  EXPECT_EQ(cell_list(row.begin() + 7, row.begin() + 9), (cell_list{"–", "–"})) << "nothing was seen";
}

TEST(ReportSeedTables, ATimeOfOneTuningStandsBesideThatOnly) {
  std::vector<json> records;
  for (const int size : {8, 64, 640})
    for (json r : document_records(record::prefix_sum_document, {67108865}, "scan/serial",
                                   {{"scan/opencl:blelloch", "scan/opencl:sweep_add", "work-efficient scan"}})) {
      r["case"]["tuning"] = "group_size=" + std::to_string(size);
      r["timing"]["kernel"] = {{"median_ns", size * 1e6}};
      records.push_back(r);
    }
  const std::string page = page_of(records);
  EXPECT_EQ(row_of(rows_below(page, "The final results"), "0, local work size 64")[3], "? 64.0 ms");
  std::size_t quoted = 0;
  for (const cell_list& row : rows_below(page, "Our times, and what was published")) {
    const bool is_its = row.at(5) == "4.40164 ms";
    EXPECT_EQ(is_its, row.front() == "opencl:sweep_add group_size=64") << row.front();
    quoted += is_its;
  }
  EXPECT_EQ(quoted, 1u);
}

TEST(ReportSeedTables, KindsOfKeysAndOfShapesHaveTablesOfTheirOwn) {
  const auto titles = [](const registry::extents& shape, const char* baseline, const char* data) {
    std::vector<json> records = document_records("A. Body", shape, baseline, {{"scan/serial", baseline, "a sort"}});
    for (json& r : records) r["case"]["data"] = data;
    const std::string body = body_of(page_of(records));
    const std::size_t at = body.find("<h3>") + 4;
    return body.substr(at, body.find("<", at) - at);
  };
  EXPECT_EQ(titles({50000}, "sort/cpu:merge", "uniform"), "sort f32, random");
  EXPECT_EQ(titles({50000}, "sort/cpu:merge", "reversed"), "sort f32, reversed");
  EXPECT_EQ(titles({512, 512, 512}, "matmul/cpu:simple", "uniform"), "matmul f32");
  EXPECT_EQ(titles({1000, 300, 200}, "matmul/cpu:simple", "uniform"), "matmul f32, rectangular");
}

TEST(ReportSeedTables, ErrorsStandBesideWhatTheDocumentAllows) {
  std::vector<json> records = document_records(record::blocks_document, {1000, 300, 200}, "matmul/cpu:simple",
                                               {{"scan/serial", "matmul/cpu:simple", "simple product, CPU"},
                                                {"scan/cuda:cub", "matmul/cuda:simple", "simple product, GPU"}});
  const auto errors = [&] { return rows_below(page_of(records), "The largest error against the expected result"); };
  EXPECT_NE(page_of(records).find("The document allows 1e-3."), std::string::npos);
  EXPECT_EQ(row_of(errors(), "simple product, CPU @cpu:threads")[1], "0");
  EXPECT_EQ(row_of(errors(), "simple product, GPU @cuda:0")[1], "0.00000010");
  for (json& r : records) r["status"] = "wrong";
  EXPECT_EQ(row_of(errors(), "simple product, CPU @cpu:threads")[1], "WRONG");
  for (json& r : records) r["experiment"]["document"] = "another";
  EXPECT_EQ(errors().size(), 0u);
}

TEST(ReportSeedLecture, ItsExamplesAreWorkedOut) {
  const std::string page = page_of(
      document_records("B. Body, a lecture", {8}, "reduce/serial", {{"scan/serial", "reduce/serial", "serial sum"}}));
  const table_cells steps = rows_below(page, "Recursive doubling, 8 processors");
  EXPECT_EQ(steps, (table_cells{{"start", "", "1 2 3 4 5 6 7 8"},
                                {"k = 1", "1 3 5 7", "1 3 3 7 5 11 7 15"},
                                {"k = 2", "3 7", "1 3 3 10 5 11 7 26"},
                                {"k = 3", "7", "1 3 3 10 5 11 7 36"}}));
  EXPECT_NE(page.find("Cost, p log p: 24. Additions of active processors alone: 7,"), page.npos);
  cell_list values;
  for (const cell_list& row : rows_below(page, "Speedup, efficiency and both laws")) values.push_back(row.at(1));
  EXPECT_EQ(values, (cell_list{"1.25", "1.33", "0.667", "0.333", "1.00", "1.94", "2.00", "16.5", "16.0"}));
}

/// HiPerC's programs on two of its grids. There is none with CUDA.
std::vector<json> diffusion_records() {
  std::vector<json> all;
  for (const std::uint64_t side : {254, 766}) {
    std::vector<json> records =
        document_records(record::diffusion_document, {side, side, 100}, "diffuse/cpu:hiperc_openmp",
                         {{"scan/cpu:std", "diffuse/cpu:hiperc_openmp", "CPU: OpenMP"},
                          {"scan/serial", "diffuse/cpu:hiperc", "CPU: Serial"},
                          {"scan/opencl:blelloch", "diffuse/opencl:hiperc", "GPU: OpenCL"}});
    for (json& r : records) {
      r["experiment"]["times_in_run"] = 250.0;
      r["verify"]["digest"] = r["verify"]["reference_digest"];
      r["experiment"]["check_value"] = "0.00125", r["experiment"]["check"] = "residual";
      all.push_back(r);
    }
  }
  return all;
}

TEST(ReportSeedRuns, ATableHasAllProgramsOfTheDocumentAndItsGrids) {
  const std::string page = page_of(diffusion_records());
  EXPECT_NE(page.find("<th>768² grid, published<"), page.npos);
  const table_cells times = rows_below(page, "Times of whole runs"), speedups = rows_below(page, "Speedups over the");
  EXPECT_EQ(times.size(), 6u);
  EXPECT_EQ(row_of(times, "CPU: Serial")[3], "1243 s");
  EXPECT_EQ(row_of(times, "GPU: CUDA"), (cell_list{"GPU: CUDA", "2 s", "–", "25 s", "–"}));
  EXPECT_EQ(row_of(speedups, "GPU: CUDA"), (cell_list{"GPU: CUDA", "2.0", "–", "4.2", "–"}));
  EXPECT_NE(page.find("All rows at 768² grid: 766x766x100"), page.npos);
  EXPECT_NE(page.find("Speedups are over cpu:hiperc_openmp @cpu."), page.npos) << "it has threads of its own";
}

TEST(ReportSeedRuns, EachProgramHasTheDigestAndTheResidualOfItsField) {
  std::vector<json> records = diffusion_records();
  const auto bits = [&] { return rows_below(page_of(records), "The residual and the digest of the result"); };
  const std::string digest = records.front()["verify"]["digest"];
  EXPECT_EQ(row_of(bits(), "CPU: OpenMP")[1], "0.00125 " + digest.substr(0, 8) + "…");
  EXPECT_EQ(row_of(bits(), "GPU: CUDA")[1], "–");
  EXPECT_NE(page_of(records).find("6 of 6 results of the programs have every bit"), std::string::npos);
  records.front()["verify"]["digest"] = std::string(32, '0');
  EXPECT_EQ(row_of(bits(), "CPU: OpenMP")[1], "other bits");
  EXPECT_NE(page_of(records).find("5 of 6 results of the programs have every bit"), std::string::npos);
}

TEST(ReportSeedRuns, AProgramForAGpuThatRanOnTheProcessorIsNamed) {
  std::vector<json> records = diffusion_records();
  const std::string words = "On this machine’s processor, which is no GPU: GPU: OpenCL @opencl:0.";
  EXPECT_EQ(page_of(records).find(words), std::string::npos);
  for (json& r : records) r["device"]["is_cpu"] = true;
  EXPECT_NE(page_of(records).find(words), std::string::npos);
}

TEST(ReportSeedRuns, TheFastestProgramIsNamedForUsAndForTheDocument) {
  std::vector<json> records = diffusion_records();
  for (json& r : records) {
    const double time = r["case"]["variant"] == "diffuse/cpu:hiperc" ? 1e6 : 2e6;
    r["timing"]["kernel"] = {{"median_ns", time}, {"ci95_lo_ns", time * 0.99}, {"ci95_hi_ns", time * 1.01}};
  }
  const std::string document = " In the document: OpenMP everywhere.";
  EXPECT_NE(page_of(records).find("The fastest CPU program here: Serial everywhere." + document), std::string::npos);
  for (json& r : records)
    if (r["case"]["n"] == 766) r["timing"]["kernel"]["ci95_hi_ns"] = 4e6;
  EXPECT_NE(page_of(records).find("here: Serial (256² grid) and Serial, in doubt (768² grid)." + document),
            std::string::npos);
}

/// The same, with the log of each program's run on the small grid.
std::vector<json> logged_records() {
  std::vector<json> records = diffusion_records();
  double ns = 1e6;
  for (json& r : records) {
    if (r["case"]["n"] != 254) continue;
    json moments = json::array();
    for (const int step : {10, 20, 50})
      moments.push_back({{"step", step},
                         {"simulated_time", 4.0 * step},
                         {"residual", 0.001},
                         {"hash", "00000000000000" + std::to_string(step)},
                         {"published_hash", nullptr},
                         {"picture_png", ""},
                         {"run_ns", ns * step}});
    r["course"] = {{"stopped", nullptr}, {"hash_function", "FNV-1a"}, {"moments", moments}};
    ns *= 2;
  }
  return records;
}

TEST(ReportSeedRuns, RuntimeAgainstSimulationTimeIsDrawnAsTheDocumentsFiguresAre) {
  const std::string page = page_of(logged_records());
  std::vector<json> figures;
  for (const json& chart : charts_of(page))
    if (chart["x"] == "simulation time") figures.push_back(chart);
  ASSERT_EQ(figures.size(), 3u) << "CPU, GPU and all";
  EXPECT_NE(page.find("Runtimes for 256² grid, GPU implementations."), page.npos);
  const auto labels = [](const json& chart) {
    std::string text;
    for (const json& line : chart["lines"]) text += line["label"].get<std::string>() + "; ";
    return text;
  };
  EXPECT_EQ(labels(figures[1]), "GPU: OpenCL; GPU: OpenAcc, published; GPU: OpenCL, published; GPU: CUDA, published; ");
  EXPECT_EQ(labels(figures[2]).find("CPU: OpenMP; CPU: Serial; GPU: OpenCL; "), 0u) << labels(figures[2]);
  EXPECT_NE(page.find("whole run. Not logged here: GPU: OpenAcc and GPU: CUDA."), page.npos);
  const json &ours = figures[1]["lines"][0]["points"], &published = figures[1]["lines"][2]["points"];
  EXPECT_EQ(ours[0], (json{40.0, 4e7, 4e7, 4e7, true})) << "hollow: one run has no interval";
  EXPECT_EQ(published[0], (json{100000.0, 3e9, 3e9, 3e9, false})) << "at the end of the whole run";
  const cell_list line = rows_below(page, "One run of each program, without intervals").at(1);
  EXPECT_EQ(line, (cell_list{"20", "80.0", "0.00100", "20.0 ms", "40.0 ms"}));
  EXPECT_EQ(page.find("<h2>The diffusing field"), page.npos) << "a log has no pictures";
}

TEST(ReportSeedRuns, LogsAreHeldAgainstEachOtherAndMissedWhereThereAreNone) {
  std::vector<json> records = logged_records();
  EXPECT_NE(page_of(records).find("256² grid: at every step that they have in common"), std::string::npos);
  records.front()["course"]["moments"][1]["hash"] = std::string(16, 'f');
  EXPECT_NE(page_of(records).find("256² grid: the programs’ fields are NOT equal."), std::string::npos);
  EXPECT_EQ(page_of(records).find("No program’s run was logged"), std::string::npos);
  EXPECT_NE(page_of(diffusion_records()).find("No program’s run was logged"), std::string::npos);
}

}  // namespace
}  // namespace tilewise::report
