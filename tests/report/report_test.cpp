// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"
#include "fixture.hpp"
#include "page.hpp"
#include "report/compare/comparison.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/html.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace tilewise::report {
namespace {

using nlohmann::json;

const std::string hostile =
    "</script><script>window.broken=1</script><injected-element>\"'&<img src=http://injected.invalid/x onerror=a()>"
    "\n\xE2\x80\xA8|`${x}@style@";

TEST(ReportPage, SameRecordsGiveTheSameBytes) { EXPECT_EQ(page_of(made_up_records()), page_of(made_up_records())); }

TEST(ReportPage, HasItsPartsInOrder) {
  const std::string body = body_of(page_of(made_up_records()));
  std::size_t last = 0;
  for (const char* part : {"class=\"verdict", "class=\"matrix", "<nav ", "<h2>scan</h2>", "The ladder",
                           "Time against size", "Throughput against size", "Where a job’s time goes", "The peers",
                           "<h2>reduce</h2>", "<h2>A. Body, Sums, 2020</h2>", "The diffusing field",
                           "Residual against time", "The machine", "How to repeat it", "Not measured: "}) {
    const std::size_t at = body.find(part, last);
    ASSERT_NE(at, std::string::npos) << part;
    last = at;
  }
}

TEST(ReportPage, EachChartIsDescribedAndHasItsNumbers) {
  const std::string page = page_of(made_up_records());
  const json charts = charts_of(page);
  const std::string body = body_of(page);
  EXPECT_GT(charts.size(), 20u);
  EXPECT_EQ(times_in(body, "<canvas data-chart=\""), charts.size());
  EXPECT_EQ(times_in(body, "<figcaption><strong>"), charts.size() + 4) << "and the pictures of the field";
  EXPECT_EQ(times_in(body, "<summary>The numbers</summary><div class=\"scroll\"><table><caption>"), charts.size());
}

/// Chart.js alone has 200 kB.
TEST(ReportPage, ScriptsArePacked) {
  const std::string page = page_of(made_up_records());
  EXPECT_LT(page.size() - body_of(page).size(), 150000u);
}

TEST(ReportPage, AsksForNothing) {
  const std::string page = page_of(made_up_records());
  EXPECT_NE(page.find("content=\"default-src 'none'; img-src data:; script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_EQ(times_in(body_of(page), " src="), times_in(body_of(page), "<img src=\"data:image/png;base64,"));
  EXPECT_EQ(times_in(body_of(page), " href="), times_in(body_of(page), " href=\"#"));
}

TEST(ReportPage, HostileTextStaysText) {
  const std::string page = page_of(hostile_records(hostile));
  EXPECT_EQ(page.find("<injected-element"), std::string::npos);
  EXPECT_EQ(times_in(page, "<img"), 1u) << "the palette; no record's picture is a valid one";
  EXPECT_EQ(times_in(page, "</script>"), 6u);
  EXPECT_GT(times_in(body_of(page), "&lt;injected-element&gt;"), 100u);
  const std::size_t charts = page.find("id=\"charts\">");
  EXPECT_EQ(page.find('<', charts), page.find("</script>", charts));
  EXPECT_GT(charts_of(page).size(), 20u);
}

TEST(ReportPage, AWrongResultHasWordsAndNoTime) {
  std::vector<json> records = made_up_records();
  for (json& record : records)
    if (record["case"]["variant"] == "scan/cuda:lookback") record["status"] = "wrong";  // with its times
  const std::string body = body_of(page_of(records));
  const std::size_t line = body.find("<th>cuda:lookback<", body.find("digest of the definition"));
  const std::string cells = row_from(body, line);
  EXPECT_EQ(times_in(cells, "<strong class=\"wrong\">WRONG</strong>"), 10u);
  EXPECT_EQ(cells.find("s<"), std::string::npos) << cells;
  EXPECT_NE(body.find("class=\"bits wrong\""), std::string::npos);
}

TEST(ReportPage, AnImplausiblePointIsHollowAndNotRanked) {
  std::vector<json> records = made_up_records();
  for (json& record : records)
    if (record["case"]["variant"] == "scan/cuda:lookback") record["derived"]["plausible"] = false;
  const model m = make_model(typed(records));
  const board& gpu = m.panels.front().boards.back();
  ASSERT_EQ(gpu.name, "cuda:0");
  EXPECT_EQ(gpu.fastest(role::tilewise, 1048576)->label, "cuda:blelloch");
  EXPECT_NE(
      body_of(page_of(records))
          .find("scan/cuda:lookback on cuda:0 at n\u00a0=\u00a01,048,576 cannot be true: faster than its measured"),
      std::string::npos);
}

TEST(ReportPage, WhatIsLongerThanItsRoundTripIsTold) {
  std::vector<json> records = made_up_records();
  for (json& record : records)
    if (record["case"]["variant"] == "scan/cuda:lookback") {
      record["derived"]["plausible"] = false;
      record["reason"] = "the kernel takes longer";
    }
  EXPECT_NE(body_of(page_of(records)).find("cannot be true: the kernel takes longer."), std::string::npos);
}

TEST(ReportPage, VariantsWithoutARecordAreNamedInOneLine) {
  std::vector<json> records = made_up_records();
  std::erase_if(records, [](const json& record) { return record["case"]["variant"] == "reduce/serial"; });
  const std::string body = body_of(page_of(records));
  const std::string line = body.substr(body.find("Not measured: "));
  EXPECT_NE(line.find("reduce/serial"), std::string::npos) << line;
  EXPECT_EQ(line.find("scan/serial"), std::string::npos) << line;
  EXPECT_EQ(body.find("<h2>Not measured"), std::string::npos);
}

TEST(ReportPage, WhatHasNoTimeSaysWhyWithItsProblem) {
  const std::string body = body_of(page_of(made_up_records()));
  const std::size_t scan = body.find("<h2>scan</h2>"), reduce = body.find("<h2>reduce</h2>");
  const std::size_t said = body.find("opencl:blelloch on opencl:0 has no time at 268,435,456: needs 2.1 GiB in one");
  EXPECT_TRUE(scan < said && said < reduce) << said;
}

TEST(ReportFindings, OnlyWhatWasComparedWithTheDefinitionIsCountedAsIts) {
  std::vector<json> records = made_up_records();
  std::erase_if(records, [](const json& record) { return record["status"] != "ok"; });
  for (json& r : records)
    if (r["case"]["n"] == 64) r["verify"]["reference"] = "scan/serial";
  const std::string all = "All 206 results", end = " have the same bits, on 5 devices.";
  const std::string told = bits_finding(make_model(typed(records)));
  EXPECT_TRUE(told.starts_with(all)) << told;
  for (json& r : records)
    if (r["case"]["n"] == 67108865 && r["case"]["dtype"] == "f64") r["verify"]["reference"] = "scan/cpu:fast";
  const std::string fewer = bits_finding(make_model(typed(records)));
  EXPECT_TRUE(fewer.starts_with("All 199 results")) << fewer;
  EXPECT_NE(fewer.find(" 7 more, too large for the definition, have the bits of scan/cpu:fast."), fewer.npos) << fewer;
}

TEST(ReportFindings, EqualBitsAreSaidOnlyOfEqualDigests) {
  std::vector<json> records = made_up_records();
  std::erase_if(records, [](const json& record) { return record["status"] != "ok"; });
  EXPECT_TRUE(bits_finding(make_model(typed(records)))
                  .starts_with("All 206 results of code that keeps the fixed order of operations have the same bits"))
      << bits_finding(make_model(typed(records)));
  records[1]["verify"]["digest"] = std::string(32, '1');
  EXPECT_TRUE(any_wrong(make_model(typed(records))));
  EXPECT_NE(bits_finding(make_model(typed(records))).find("NOT"), std::string::npos);
}

TEST(ReportFindings, JudgesByTheWholeInterval) {
  EXPECT_EQ(judged({1.05, 1.03, 1.07}, 0.012), verdict::faster);
  EXPECT_EQ(judged({1.05, 1.01, 1.07}, 0.012), verdict::unclear);
  EXPECT_EQ(judged({1.001, 0.995, 1.005}, 0.012), verdict::same);
  EXPECT_EQ(judged({0.95, 0.93, 0.97}, 0.012), verdict::slower);
  EXPECT_EQ(judged({2.0, {}, {}}, 0.012), verdict::unclear);
  EXPECT_EQ(judged({1.001, 0.995, 1.005}, 0.2), verdict::unclear) << "such a machine cannot tell";
}

/// The README's table has a line for each processor and size at which one of our variants was measured.
std::size_t lines_of_table(const model& m) {
  std::size_t lines = 0;
  for (const panel* p : main_panels(m))
    for (const board& b : p->boards)
      for (const std::uint64_t n : b.sizes()) lines += b.fastest_shown(role::tilewise, n) != nullptr;
  return lines;
}

TEST(ReportFindings, WhatChangedBetweenTwoRunsIsSaidOnce) {
  std::vector<json> records = made_up_records();
  const auto peer = std::find_if(records.begin(), records.end(), [](const json& r) { return r["case"]["peer"]; });
  const std::vector<json> one{*peer};
  const std::uint64_t n = (*peer)["case"]["n"];
  const std::vector<std::string> findings = change_findings(make_model(typed(one)));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].find("differ in " + count(n / 2) + " outputs"), std::string::npos) << findings[0];
}

TEST(ReportFindings, ADeviceWinsFromTheSizeAfterWhichItNeverLoses) {
  const std::vector<json> records = made_up_records();
  const model m = make_model(typed(records));
  const panel& scan = m.panels.front();
  EXPECT_EQ(break_even(scan, scan.boards.back()), "With its transfers cuda:0 wins from n\u00a0=\u00a0262,144 on.");
}

TEST(ReportFindings, CrossingsSayFromWhereOnWhoIsTheFastest) {
  std::vector<json> records = made_up_records();
  EXPECT_EQ(crossings(make_model(typed(records)).panels.front().boards.back()), "") << "lookback leads at all sizes";
  for (json& record : records) {
    const std::uint64_t n = record["case"]["n"];
    const bool is_early = n <= 4096 || n == 16777217;
    if (record["case"]["variant"] == "scan/cuda:blelloch" && is_early && record["status"] == "ok")
      for (const char* key : {"median_ns", "ci95_lo_ns", "ci95_hi_ns"}) record["timing"]["kernel"][key] = 1.0;
  }
  EXPECT_EQ(crossings(make_model(typed(records)).panels.front().boards.back()),
            "cuda:blelloch is the fastest up to 64, cuda:lookback at 1,024 (cuda:blelloch has no time there), "
            "cuda:blelloch at 4,096, cuda:lookback from 65,536 to 1,048,576, cuda:blelloch at 16,777,217, "
            "cuda:lookback from 67,108,865 on.")
      << "at 1,024 blelloch is wrong";
}

TEST(ReportSeeds, PublishedFiguresStandBesideOursAndNowhereElse) {
  std::vector<json> records = made_up_records();
  for (json& record : records)
    if (record["case"]["variant"] == "scan/opencl:chunked" && record.contains("experiment")) {
      record["status"] = "skipped";
      record["reason"] = "no room";
    }
  std::vector<json> unpublished = records;
  for (json& record : unpublished) record.erase("experiment");
  const std::string page = page_of(records), plain = page_of(unpublished);
  EXPECT_EQ(charts_of(page), charts_of(plain));
  EXPECT_EQ(plain.find("A. Body, Sums, 2020"), std::string::npos);
  EXPECT_EQ(markdown(make_model(typed(records))), markdown(make_model(typed(unpublished))));
  const std::string body = body_of(page);
  const std::size_t begin = body.find("<h2>A. Body, Sums, 2020"), end = body.find("</section>", begin);
  const std::string section = body.substr(begin, end - begin);
  EXPECT_EQ(times_in(section, "a made-up scan"), 4u) << "in the document's table and among all rows";
  EXPECT_NE(section.find("<td>no room<"), std::string::npos) << "why a row has no time" << section;
  EXPECT_NE(section.find("The result begins 1 2 3, as published. Speedups are over serial"), std::string::npos)
      << section;
  const json& ours = *std::find_if(records.begin(), records.end(), [](const json& r) {
    return r["case"]["variant"] == "scan/opencl:blelloch" && r["case"]["n"] == 67108865 && r["case"]["dtype"] == "f32";
  });
  const auto cells = [&](double published, const char* clock) {
    return "<td>" + duration(published) + "<td>" +
           factor(published / ours["timing"][clock]["median_ns"].get<double>()) + "<";
  };
  EXPECT_NE(section.find(cells(4e6, "kernel")), std::string::npos) << section;
  EXPECT_NE(section.find(cells(61e6, "round_trip")), std::string::npos) << "transfers against transfers" << section;
}

TEST(ReportSeeds, AResultThatWasNotSeenIsNotSaidToBeAsPublished) {
  std::vector<json> records = made_up_records();
  for (json& record : records) record["verify"] = nullptr;
  const std::string page = page_of(records);
  EXPECT_NE(page.find("<h2>A. Body, Sums, 2020</h2>"), std::string::npos);
  EXPECT_EQ(page.find(", as published"), std::string::npos);
}

TEST(ReportSeeds, ADocumentsInputsHaveAPanelOfTheirOwn) {
  std::vector<json> records = made_up_records();
  for (json& record : records)
    if (record["case"]["n"] == 64) record["case"]["data"] = "seeds";
  const model m = make_model(typed(records));
  EXPECT_EQ(m.panels.size(), 6u);
  EXPECT_EQ(m.panels.front().sizes().count(64), 0u);
}

TEST(ReportFindings, EachMachineHasItsMainPanel) {
  std::vector<json> records = made_up_records(), others = made_up_records();
  for (json& record : others) record["host"]["hostname"] = "another";
  records.insert(records.end(), others.begin(), others.end());
  const model m = make_model(typed(records));
  EXPECT_TRUE(m.warnings.empty());
  EXPECT_EQ(main_panels(m).size(), 4u);
  EXPECT_EQ(times_in(markdown(make_model(typed(records))), "another ("), 1u);  // in the list of machines
}

TEST(ReportFindings, ProcessorsOfOneNameWithOtherCachesAreTwoMachines) {
  std::vector<json> records = made_up_records();
  const std::string first = make_model(typed(records)).machines.front();
  for (json r : made_up_records()) {
    r["host"]["caches"][0]["bytes"] = 1 << 20;
    records.push_back(r);
  }
  const model m = make_model(typed(records));
  const std::size_t name = first.find(" (");
  EXPECT_EQ(m.machines, (std::vector<std::string>{first, first.substr(0, name) + " 2" + first.substr(name)}));
  EXPECT_EQ(main_panels(m).size(), 2 * main_panels(make_model(typed(made_up_records()))).size());
}

TEST(ReportFindings, HardwareThatComesByTheNameOfAnotherIsTwoDevices) {
  std::vector<json> records = made_up_records();
  const std::size_t own = records.size();
  for (json r : made_up_records())
    if (r["device"]["name"] == "cuda:0") {
      r["device"]["description"] = "Another GPU";
      for (json& ratio : r["ratios"]) ratio["device"] = "cuda:0";
      records.push_back(r);
    }
  ASSERT_GT(records.size(), own);
  const model m = make_model(typed(records));
  EXPECT_TRUE(m.warnings.empty()) << "none replaces another";
  std::map<std::string, std::string> hardware_of;
  for (const panel& p : m.panels)
    for (const board& b : p.boards) hardware_of[b.name] = b.title;
  EXPECT_EQ(hardware_of["cuda:0"], "Imaginary GPU 9000");
  EXPECT_EQ(hardware_of["cuda:0 (Another GPU)"], "Another GPU");
  std::set<std::string> compared_with;
  for (std::size_t i = own; i < m.rows.size(); ++i)
    for (const report::ratio& q : m.rows[i].ratios) compared_with.insert(q.device);
  EXPECT_EQ(compared_with, std::set<std::string>{"cuda:0 (Another GPU)"});
}

TEST(ReportFindings, ALaterRecordOfACaseReplacesTheEarlier) {
  std::vector<json> records = made_up_records();
  records.push_back(records.front());
  records.back()["timing"]["kernel"]["median_ns"] = 12345.0;
  const model m = make_model(typed(records));
  EXPECT_EQ(m.warnings.size(), 1u);
  EXPECT_EQ(m.panels.front().serial()->at(64)->kernel->median, 12345.0);
}

/// The records, with the variant of cuda:0 on a group.
std::vector<json> records_of_ranks(const std::string& transport, unsigned ranks = 4, unsigned exchanges = 2,
                                   bool on_cpu = true) {
  std::vector<json> records = made_up_records();
  for (json& record : records) {
    if (record["device"]["name"] == "cuda:0") record["device"]["is_cpu"] = on_cpu;
    if (record["case"]["variant"] == "scan/cuda:lookback")
      record["ranks"] = {{"count", ranks},         {"transport", transport}, {"sent_bytes", 3072u},
                         {"exchanges", exchanges}, {"exchange_ns", 5000},    {"latency_ns", 1000},
                         {"link_bytes_per_s", 1e9}};
  }
  return records;
}

TEST(ReportRanks, WhatTheySendIsSaidOfGroupsOnly) {
  const std::string said = ": 4 ranks (threads) sent 3.00 KiB in 2 exchanges, which took 5.00 µs beside a call of ";
  EXPECT_NE(body_of(page_of(records_of_ranks("threads"))).find(said), std::string::npos);
  EXPECT_EQ(body_of(page_of(made_up_records())).find("Between the ranks"), std::string::npos);
  const std::string of_gpus = body_of(page_of(records_of_ranks("threads", 4, 2, false)));
  EXPECT_NE(of_gpus.find(": 4 ranks (threads) sent 3.00 KiB in 2 exchanges."), std::string::npos)
      << "they are told to copy, which takes the host no time";
  EXPECT_EQ(body_of(page_of(records_of_ranks("threads", 1))).find("Between the ranks"), std::string::npos);
  EXPECT_NE(body_of(page_of(records_of_ranks("threads", 4, 1))).find(" in 1 exchange, "), std::string::npos);
  const std::string table = markdown(make_model(typed(records_of_ranks("threads"))));
  EXPECT_NE(table.find("\nscan cuda:lookback on cuda:0 at n\u00a0=\u00a0"), std::string::npos);
  EXPECT_EQ(times_in(csv_of(records_of_ranks("threads")), ",4,\"threads\",3072,2,5000.0,1000.0,1000000000.0,"), 20u);
  EXPECT_EQ(page_of(records_of_ranks(hostile)).find("<injected-element"), std::string::npos);
}

/// The number of rows of the tables. Checks that each row has all columns.
std::size_t rows_of_markdown(const std::vector<json>& records) {
  const std::string text = markdown(make_model(typed(records)));
  EXPECT_TRUE(text.starts_with("<!-- results:begin -->\n"));
  EXPECT_TRUE(text.ends_with("<!-- results:end -->\n"));
  EXPECT_EQ(times_in(text, "<!--"), 2u);
  std::istringstream lines(text);
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ")) continue;
    ++rows;
    EXPECT_EQ(times_in(line, "|") - times_in(line, "\\|"), 10u) << line;
  }
  return rows;
}

TEST(ReportMarkdown, StandsBetweenItsMarkersAndKeepsItsColumns) {
  std::vector<json> records = hostile_records(hostile);
  EXPECT_GT(rows_of_markdown(records), 2u);
  for (json& r : records) r["case"]["data"] = "uniform";  // others are problems of their own
  const std::size_t heads = 2;                            // of two algorithms' tables
  EXPECT_EQ(rows_of_markdown(records), lines_of_table(make_model(typed(made_up_records()))) + heads);
}

TEST(ReportMarkdown, ATimeInDoubtIsMarked) {
  std::vector<json> records = made_up_records();
  for (json& r : records)
    if (r["device"]["name"] == "cuda:0" && r["status"] == "ok") r["timing"]["kernel"]["ci95_lo_ns"] = nullptr;
  const std::string text = markdown(make_model(typed(records)));
  EXPECT_EQ(times_in(text, " (no interval) | ? "), 20u) << "two problems of ten sizes" << text;
  EXPECT_EQ(times_in(text, " | ? "), 60u) << "each time, speed, and share of a copy that is in doubt too" << text;
  EXPECT_EQ(markdown(make_model(typed(made_up_records()))).find(" | ? "), std::string::npos);
}

TEST(ReportFormat, NumbersForPeople) {
  EXPECT_EQ(count(0), "0");
  EXPECT_EQ(count(67108865), "67,108,865");
  EXPECT_EQ(significant(1234.5, 3), "1,230");
  EXPECT_EQ(significant(0.012345, 3), "0.0123");
  EXPECT_EQ(significant(9.999, 3), "10.0");
  EXPECT_EQ(duration(999.7), "1.00 µs");
  EXPECT_EQ(duration(1.5e9), "1.50 s");
  EXPECT_EQ(operation_rate(12, "f32"), "12.0 FLOP/s");
  EXPECT_EQ(operation_rate(12, "i32"), "12.0 op/s");
  EXPECT_EQ(operation_rate(0, "u64"), "0 op/s");
  EXPECT_EQ(operation_rate(1200, ""), "1.20 kop/s");
  EXPECT_EQ(operation_rate(5.43e13, "f64"), "54.3 TFLOP/s");
  EXPECT_EQ(rate(4.18e12), "4.18 TB/s");
  EXPECT_EQ(percent(0.0123), "1.2 %");
}

TEST(ReportHtml, TextIsEscapedOnce) {
  EXPECT_EQ(html::text("<a href=\"x\">&'\x01").code(), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\xEF\xBF\xBD");
  EXPECT_EQ(tag("p", {{"class", "a\"b"}}, html::text("<")).code(), "<p class=\"a&quot;b\">&lt;</p>");
  const std::string ending = "{\"a\":\"</script>\"}";
  EXPECT_EQ(packed(ending).find('<'), std::string::npos);
  EXPECT_EQ(unpacked(packed(ending)), ending);
}

}  // namespace
}  // namespace tilewise::report
