// SPDX-License-Identifier: Apache-2.0
// The documents' chapters of the page: the contents of their tables, which charts are drawn, and the answers.
#include "fixture.hpp"
#include "page.hpp"
#include "report/page_builder.hpp"
#include "report/seeds/seeds.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilewise::report {
namespace {

using nlohmann::json;

/// Scans of f32. Two variants, one on the CPU and one on OpenCL, repeat a document's programs. The document publishes a
/// time of each at the largest size.
std::vector<json> of_a_document() {
  std::vector<json> records = made_up_records();
  std::erase_if(records, [](const json& r) {
    return r["case"]["algorithm"] != "scan" || r["case"]["dtype"] != "f32" || r["case"]["mode"] != "hot";
  });
  for (json& r : records) {
    r.erase("course");
    const std::string variant = r["case"]["variant"];
    const auto time = [](const char* system, double ns, bool with_transfers) {
      return json{{"system", system}, {"machine", "Imaginary"}, {"ns", ns}, {"with_transfers", with_transfers}};
    };
    const json serial = time("sequential", 900e6, false), gpu = time("on a GPU", 90e6, true);
    const bool is_serial = variant == "scan/serial", is_gpu = variant == "scan/opencl:blelloch";
    r["experiment"] = {{"document", "A. Body, Sums, 2020"},
                       {"baseline", "scan/serial"},
                       {"baseline_device", "cpu:serial"},
                       {"first_outputs", ""},
                       {"published", json::array()}};
    if (is_serial) r["experiment"]["system"] = "sequential";
    if (is_gpu) r["experiment"]["system"] = "on a GPU", r["experiment"]["differs"] = "pairs of elements";
    if (r["case"]["n"] != 67108865) continue;
    r["experiment"]["of_problem"] = json::array({serial, gpu, time("on clay tablets", 1e18, false)});
    if (is_serial) r["experiment"]["published"] = json::array({serial});
    if (is_gpu) r["experiment"]["published"] = json::array({gpu});
  }
  return records;
}

/// The points of the line with this label; null if there is none.
json points_of(const json& chart, const std::string& label) {
  for (const json& line : chart.value("lines", json::array()))
    if (line["label"] == label) return line["points"];
  return nullptr;
}

struct drawn {
  html words;
  json charts;
};

drawn charts_of_study(const std::vector<json>& records) {
  const model m = make_model(typed(records));
  const std::vector<document_chapter> chapters = document_chapters(m);
  EXPECT_EQ(chapters.size(), 1u);
  page_builder page;
  html words = study_charts(chapters.at(0).studies.at(0), page);
  words += sweep_charts({&chapters.at(0).studies.at(0)}, page);
  words += study_answers(chapters.at(0).studies.at(0));
  return {words, json::parse(page.charts())};
}

/// The value at the size that the document publishes.
double value_in(const json& points) {
  for (const json& point : points)
    if (point[0] == 67108865) return point[1];
  return 0;
}

double median_of(const std::vector<json>& records, const std::string& variant, std::uint64_t n, const char* clock) {
  for (const json& r : records)
    if (r["case"]["variant"] == variant && r["case"]["n"] == n) return r["timing"][clock]["median_ns"];
  return 0;
}

TEST(ReportSeedsCharts, TimesAndSpeedupsAreOfTheDocumentsPrograms) {
  const std::vector<json> records = of_a_document();
  const json charts = charts_of_study(records).charts;
  ASSERT_GE(charts.size(), 3u);
  const json time = points_of(charts[0], "on a GPU"), speedup = points_of(charts[1], "on a GPU");
  ASSERT_FALSE(time.empty() || speedup.empty()) << charts.dump();
  EXPECT_FALSE(points_of(charts[0], "sequential").empty());
  const double gpu = median_of(records, "scan/opencl:blelloch", 67108865, "round_trip");
  const double serial = median_of(records, "scan/serial", 67108865, "kernel");
  EXPECT_DOUBLE_EQ(value_in(time), gpu) << "transfers count, as the document's do";
  EXPECT_DOUBLE_EQ(value_in(speedup), serial / gpu);
  EXPECT_GE(time.size(), 3u);
}

/// A document of more programs than a chart usually has lines: none is left out, and none stands for another.
TEST(ReportSeedsCharts, EachProgramIsDrawnFromTheRowThatRepeatsIt) {
  std::vector<json> records;
  for (int program = 0; program < 12; ++program)
    for (json r : of_a_document()) {
      if (r["case"]["variant"] != "scan/serial") continue;
      r["case"]["variant"] = "scan/serial:" + std::to_string(program);
      r["experiment"]["system"] = "program " + std::to_string(program);
      for (const char* field : {"median_ns", "low_ns", "high_ns"})
        if (r["timing"]["kernel"].contains(field))
          r["timing"]["kernel"][field] = r["timing"]["kernel"][field].get<double>() * (program + 1);
      records.push_back(r);
    }
  const json charts = charts_of_study(records).charts;
  for (int program = 0; program < 12; ++program) {
    const std::string name = std::to_string(program);
    EXPECT_DOUBLE_EQ(value_in(points_of(charts.at(0), "program " + name)),
                     median_of(records, "scan/serial:" + name, 67108865, "kernel"));
  }
}

TEST(ReportSeedsCharts, OursAndTheDocumentsNeverShareAColour) {
  const json charts = charts_of_study(of_a_document()).charts;
  std::set<std::string> ours, theirs;  // colours
  for (const json& chart : charts)
    for (const char* parts : {"lines", "bars"})
      for (const json& part : chart.value(parts, json::array())) {
        const bool is_theirs = part.value("note", "") == "published";
        (is_theirs ? theirs : ours).insert(part["colour"]);
      }
  EXPECT_FALSE(theirs.empty());
  for (const std::string& colour : theirs) EXPECT_FALSE(ours.contains(colour)) << colour;
}

TEST(ReportSeedsCharts, AKernelTimeNeverStandsForATimeWithTransfers) {
  std::vector<json> records = of_a_document();
  for (json& r : records)
    if (r["case"]["variant"] == "scan/opencl:blelloch" && r["case"]["n"] == 67108865) r["timing"].erase("round_trip");
  const json charts = charts_of_study(records).charts;
  EXPECT_EQ(value_in(points_of(charts[0], "on a GPU")), 0) << "it has none at that size";
  EXPECT_GT(value_in(points_of(charts[0], "sequential")), 0) << "the CPU needs no transfers";
}

TEST(ReportSeedsCharts, ThePublishedSpeedupIsOverThePublishedBaseline) {
  const json charts = charts_of_study(of_a_document()).charts;
  for (const json& chart : charts)
    for (const json& bar : chart.value("bars", json::array()))
      if (bar["label"] == "on a GPU" && bar["note"] == "published") {
        EXPECT_DOUBLE_EQ(bar["value"], 10);
        return;
      }
  FAIL() << "there is no such bar";
}

TEST(ReportSeedsCharts, AWholeRunIsWhatWasMeasuredTimesHowOftenItHasIt) {
  std::vector<json> records = of_a_document();
  for (json& r : records) r["experiment"]["times_in_run"] = 250.0;
  const json charts = charts_of_study(records).charts;
  const double serial = median_of(records, "scan/serial", 67108865, "kernel");
  EXPECT_DOUBLE_EQ(value_in(points_of(charts[0], "sequential")), 250 * serial);
}

/// Three tunings at one size, for two ways to add.
TEST(ReportSeedsCharts, ASweepHasALineForEachWayAndSaysWhichIsFaster) {
  std::vector<json> records = of_a_document(), swept;
  for (const json& r : records) {
    if (r["case"]["variant"] != "scan/opencl:blelloch" || r["case"]["n"] != 67108865) continue;
    for (const char* way : {"local", "direct"})
      for (const int size : {16, 64, 256}) {
        swept.push_back(r);
        swept.back()["case"]["tuning"] = "group_size=" + std::to_string(size) + " carry=" + way;
        json& taken = swept.back()["timing"]["kernel"];
        taken["median_ns"] = way[0] == 'l' ? 5e6 : size == 256 ? 5.01e6 : 4e6;
        for (const char* end : {"ci95_lo_ns", "ci95_hi_ns"})
          taken[end] = taken["median_ns"].get<double>() * (end[5] == 'l' ? 0.99 : 1.01);
      }
  }
  records.insert(records.end(), swept.begin(), swept.end());
  const drawn page = charts_of_study(records);
  const json& chart = page.charts.back();
  EXPECT_EQ(chart["x"], "group_size");
  const json direct = points_of(chart, "opencl:0, carry direct");
  ASSERT_EQ(direct.size(), 3u) << chart.dump();
  EXPECT_EQ(direct[0][0], 16);
  const std::string words = page.words.code();
  EXPECT_NE(words.find("opencl:0: direct is faster at 2 of 3 local sizes, local at 0; the others are too close"),
            std::string::npos)
      << words;
  EXPECT_NE(words.find("<td>group_size=16<td>5.00 ms<td>4.00 ms<td>1.25<"), std::string::npos);
  EXPECT_EQ(chart["marks"], "points") << "powers of two are no decades";
}

/// A document that never ran our baseline has no speedups over it.
TEST(ReportSeedsCharts, ASpeedupThatTheDocumentNeverRanDoesNotLead) {
  std::vector<json> records = of_a_document();
  for (json& r : records)
    if (r["case"]["variant"] == "scan/serial") r["experiment"].erase("system"), r["experiment"]["published"].clear();
  for (const json& chart : charts_of_study(records).charts) EXPECT_NE(chart["unit"], "ratio") << chart;
  EXPECT_NE(page_of(records).find("The speedups among all rows are over serial @cpu:"), std::string::npos);
}

TEST(ReportSeedsAnswers, ADeviceWinsFromWhereItStaysAhead) {
  std::vector<json> records = of_a_document();
  const std::string answers = charts_of_study(records).words.code();
  EXPECT_NE(answers.find("When does a device beat the CPU?"), std::string::npos);
  for (json& r : records)
    if (r["device"]["backend"] != "cpu" && r["timing"].contains("kernel"))
      for (const char* clock : {"kernel", "round_trip"})
        for (const char* end : {"median_ns", "ci95_lo_ns", "ci95_hi_ns"})
          r["timing"][clock][end] = r["case"]["n"] >= 1048576 ? 1.0 : 1e12;
  EXPECT_NE(charts_of_study(records).words.code().find("faster than the CPU from 1,048,576 on; with its transfers "
                                                       "counted, from 1,048,576 on."),
            std::string::npos)
      << charts_of_study(records).words.code();
}

TEST(ReportSeedsAnswers, AWinThatTheIntervalsDoNotDecideIsInDoubt) {
  std::vector<json> records = of_a_document();
  for (json& r : records)
    if (r["case"]["n"] == 67108865 && r["device"]["backend"] == "cpu" && r["timing"].contains("kernel"))
      r["timing"]["kernel"]["ci95_lo_ns"] = 1.0;
  const std::string answers = charts_of_study(records).words.code();
  EXPECT_NE(answers.find(" (in doubt at 67,108,865)"), std::string::npos) << answers;
  EXPECT_EQ(charts_of_study(of_a_document()).words.code().find("(in doubt at 67,108,865)"), std::string::npos);
}

/// A product with rounded operands is another problem.
TEST(ReportSeedsAnswers, WhatRoundsItsOperandsIsNotTheFastest) {
  std::vector<json> records = of_a_document();
  for (json& r : records)
    if (r["case"]["algorithm"] == "scan") r["case"]["algorithm"] = "matmul";
  EXPECT_NE(charts_of_study(records).words.code().find("<small> cuda:lookback</small>"), std::string::npos);
  for (json& r : records)
    if (r["case"]["variant"] == "scan/cuda:lookback" && r["status"] == "ok")
      r["case"]["order"] = "own", r["verify"]["max_relative_error"] = 2.4e-4;
  const drawn page = charts_of_study(records);
  EXPECT_EQ(page.words.code().find("<small> cuda:lookback</small>"), std::string::npos);
  EXPECT_GT(value_in(points_of(page.charts[0], "the fastest here")),
            median_of(records, "scan/cuda:lookback", 67108865, "round_trip"));
}

/// Records in which one clock of one variant has a wide interval at the size that the document publishes.
std::vector<json> in_doubt(const char* variant, const char* clock) {
  std::vector<json> records = of_a_document();
  for (json& r : records)
    if (r["case"]["variant"] == variant && r["case"]["n"] == 67108865 && r["status"] == "ok")
      r["timing"][clock]["ci95_hi_ns"] = r["timing"][clock]["median_ns"].get<double>() * 1.12;
  return records;
}

bool is_hollow(const json& chart, const std::string& label) {
  for (const json& point : points_of(chart, label))
    if (point[0] == 67108865) return point[4];
  ADD_FAILURE() << label;
  return false;
}

TEST(ReportSeedsDoubts, AChartMarksWhatRestsOnATimeInDoubt) {
  const auto hollow_time_and_speedup = [](const std::vector<json>& records) {
    const json charts = charts_of_study(records).charts;
    return std::pair(is_hollow(charts[0], "on a GPU"), is_hollow(charts[1], "on a GPU"));
  };
  EXPECT_EQ(hollow_time_and_speedup(of_a_document()), std::pair(false, false));
  EXPECT_EQ(hollow_time_and_speedup(in_doubt("scan/serial", "kernel")), std::pair(false, true)) << "the baseline";
  EXPECT_EQ(hollow_time_and_speedup(in_doubt("scan/opencl:blelloch", "round_trip")), std::pair(true, true));
  EXPECT_EQ(hollow_time_and_speedup(in_doubt("scan/opencl:blelloch", "kernel")), std::pair(false, false))
      << "its time with transfers is what counts";
  for (const json& chart : charts_of_study(in_doubt("scan/serial", "kernel")).charts)
    for (const json& bar : chart.value("bars", json::array()))
      EXPECT_NE(bar["hollow"].get<bool>(), bar["note"] == "published") << bar;
}

TEST(ReportSeedsCharts, NothingIsSaidOfADocumentsBarsWhereItHasNone) {
  const std::string hatched = "the document’s, hatched, over its own baseline";
  std::vector<json> records = of_a_document();
  EXPECT_NE(charts_of_study(records).words.code().find(hatched), std::string::npos);
  std::erase_if(records, [](const json& r) { return r["case"]["n"] != 67108865; });
  for (json& r : records) r["experiment"]["published"] = r["experiment"]["of_problem"] = json::array();
  const drawn page = charts_of_study(records);
  EXPECT_NE(page.words.code().find("Ours over serial "), std::string::npos) << page.words.code();
  EXPECT_EQ(page.words.code().find(hatched), std::string::npos);
}

/// The cells of the first line with this beginning, below a title in a document's chapter.
std::string line_below(const std::vector<json>& records, const std::string& title, const std::string& label) {
  const std::string body = body_of(page_of(records));
  const std::size_t begin = body.find(">" + label + "<", body.find(title));
  EXPECT_NE(begin, std::string::npos) << title << label;
  return row_from(body, begin);
}

TEST(ReportSeedsDoubts, ATableMarksWhatRestsOnATimeInDoubt) {
  const auto marks = [](std::vector<json> records, const char* title, const char* label) {
    return times_in(line_below(records, title, label), ">? ");
  };
  const char *published = "published for Imaginary", *gpu = "on a GPU, with transfers";
  EXPECT_EQ(marks(of_a_document(), published, gpu), 0u);
  EXPECT_EQ(marks(in_doubt("scan/serial", "kernel"), published, gpu), 1u) << "its speedup";
  EXPECT_EQ(marks(in_doubt("scan/opencl:blelloch", "round_trip"), published, gpu), 3u)
      << "its time, its speedup and the quotient by the document's";
  EXPECT_EQ(marks(in_doubt("scan/opencl:blelloch", "kernel"), published, gpu), 0u);
  std::vector<json> parts = in_doubt("scan/serial", "kernel");
  for (json& r : parts) r["experiment"]["times_in_run"] = 250.0;
  EXPECT_EQ(marks(parts, "Times of whole runs", "sequential"), 1u);
  EXPECT_EQ(marks(parts, "Speedups over the baseline’s program", "on a GPU"), 1u);
}

TEST(ReportSeedsPage, AChapterHasTheDocumentsTableWithWhatOursDoesOtherwise) {
  const std::string page = body_of(page_of(of_a_document()));
  const std::size_t chapter = page.find("<h2>A. Body, Sums, 2020</h2>"), algorithm = page.find("<h2>scan</h2>");
  ASSERT_NE(chapter, std::string::npos);
  EXPECT_LT(chapter, algorithm) << "where there is nothing else, documents come first";
  EXPECT_NE(page.find("pairs of elements"), std::string::npos);
  const std::size_t missing = page.find("on clay tablets");
  ASSERT_NE(missing, std::string::npos);
  EXPECT_NE(page.find("not measured here", missing), std::string::npos);
}

}  // namespace
}  // namespace tilewise::report
