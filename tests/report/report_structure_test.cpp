// SPDX-License-Identifier: Apache-2.0
// The page as a document: contents, headings and tables that work without sight, charts whose lines can be told apart,
// and nothing about what the records do not contain.
#include "page.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <set>

namespace tilewise::report {
namespace {

using nlohmann::json;

std::vector<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex wanted(pattern);
  std::vector<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at) all.push_back((*at)[1]);
  return all;
}

std::vector<json> all_kinds() {
  std::vector<json> records = made_up_records();
  for (json& job : made_up_jobs()) records.push_back(std::move(job));
  return records;
}

TEST(ReportStructure, TheContentsLeadToEachSection) {
  const std::string body = body_of(page_of(all_kinds()));
  const std::string nav = body.substr(body.find("<nav "), body.find("</nav>") - body.find("<nav "));
  const std::vector<std::string> links = matches(nav, "<a href=\"#([^\"]*)\">"),
                                 ids = matches(body, " id=\"(section-[^\"]*)\"");
  EXPECT_EQ(links.size(), 6u) << nav;
  EXPECT_EQ(links, ids);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_EQ(times_in(body, "<h2>"), links.size());
}

TEST(ReportStructure, HeadingsAreInOrderAndTablesAreNamed) {
  const std::string body = body_of(page_of(all_kinds()));
  int last = 0;
  for (const std::string& level : matches(body, "<h([1-6])[ >]")) {
    EXPECT_LE(std::stoi(level), last + 1) << "a level is left out";
    last = std::stoi(level);
  }
  EXPECT_EQ(times_in(body, "<h1>"), 1u);
  EXPECT_EQ(times_in(body, "<table><caption>"), times_in(body, "<table"));
  EXPECT_EQ(times_in(body, "<tr><th>"), times_in(body, "<tr>")) << "a row is without its heading";
  EXPECT_EQ(times_in(body, "<thead><tr><th>"), times_in(body, "<table>"));
}

TEST(ReportStructure, SectionsOfRecordsThatAreNotThereDoNotAppear) {
  std::vector<json> records = made_up_records();
  for (json& r : records)
    for (const char* key : {"experiment", "course"}) r.erase(key);
  std::erase_if(records, [](const json& r) { return r["device"]["backend"] != "cpu" || r["case"]["peer"]; });
  const std::string body = body_of(page_of(records));
  EXPECT_EQ(matches(body, "<h2>([^<]*)</h2>"),
            (std::vector<std::string>{"scan", "reduce", "The machine", "How to repeat it"}));
  EXPECT_EQ(body.find("The peers"), std::string::npos);
  EXPECT_EQ(body.find("Where a job"), std::string::npos);
}

/// The line charts of the made-up records at the selected sizes.
template <class Wanted>
std::vector<json> lines_at(Wanted wanted) {
  std::vector<json> records = made_up_records();
  std::erase_if(records, [&](const json& r) { return !wanted(r["case"]["n"].get<std::uint64_t>()); });
  for (json& r : records) r.erase("course");
  std::vector<json> lines;
  for (const json& chart : charts_of(page_of(records)))
    if (chart["kind"] == "lines") lines.push_back(chart);
  return lines;
}

TEST(ReportStructure, AChartOfLinesHasThreePlacesOnItsAxis) {
  EXPECT_TRUE(lines_at([](std::uint64_t n) { return n == 1048576 || n == 16777217; }).empty());
  const std::vector<json> three = lines_at([](std::uint64_t n) { return n == 65536 || n == 1048576 || n == 16777217; });
  EXPECT_EQ(three.size(), 12u) << "of three problems: times, rates, and two devices with their transfers";
}

TEST(ReportStructure, ALineOfATableIsLeftWhereThereIsNoChart) {
  std::vector<json> records = made_up_records();
  std::erase_if(records, [](const json& r) { return r["case"]["n"] != 1048576; });
  const std::string body = body_of(page_of(records));
  EXPECT_NE(body.find("<summary>Times of all variants</summary>"), std::string::npos);
  EXPECT_NE(body.find("<th>cuda:blelloch<"), std::string::npos);
}

/// Our variants and peers on ten devices, which is more than a chart holds.
std::vector<json> crowd() {
  std::vector<json> records = made_up_records();
  const std::size_t ordinary = records.size();
  for (int device = 1; device < 10; ++device)
    for (std::size_t i = 0; i < ordinary; ++i) {
      if (records[i]["device"]["name"] != "cuda:0") continue;
      json r = records[i];
      const std::string name = "cuda:" + std::to_string(device), group = r["case"]["group"];
      r["device"]["name"] = name;
      r["case"]["group"] = group.substr(0, group.find('@')) + "@" + name;
      records.push_back(std::move(r));
    }
  return records;
}

TEST(ReportStructure, AChartHasAtMostEightLines) {
  std::size_t most = 0;
  for (const json& chart : charts_of(page_of(crowd())))
    if (chart["kind"] == "lines") most = std::max(most, chart["lines"].size());
  EXPECT_EQ(most, 8u);
  EXPECT_NE(body_of(page_of(crowd())).find("<th>cuda:blelloch on cuda:9<"), std::string::npos)
      << "the others are in the table";
}

TEST(ReportStructure, OursAndPeersHaveNoColourInCommon) {
  std::set<std::string> ours, peers;
  std::size_t lines = 0;
  for (const json& chart : charts_of(page_of(crowd())))
    for (const char* parts : {"lines", "bars"}) {
      if (!chart.contains(parts)) continue;
      std::set<std::string> of_chart;
      for (const json& line : chart[parts]) {
        if (line["role"] == "tilewise") ours.insert(line["colour"]);
        if (line["role"] == "peer") peers.insert(line["colour"]);
        const bool is_one_of_many = line["role"] == "tilewise" || line["role"] == "peer";
        if (parts == std::string("lines") && is_one_of_many) {
          EXPECT_TRUE(of_chart.insert(line["colour"]).second) << "two lines of one colour";
        }
        ++lines;
      }
    }
  EXPECT_GT(lines, 100u);
  for (const std::string& colour : ours) EXPECT_FALSE(peers.contains(colour)) << colour;
  const std::string page = page_of(made_up_records());
  for (const std::set<std::string>& used : {ours, peers})
    for (const std::string& colour : used)
      EXPECT_GE(times_in(page, "--" + colour + ": #"), 2u) << colour << " has no value for light and dark pages";
}

/// At the largest sizes the times of both variants are in doubt; the one with the shorter times must not be named.
TEST(ReportStructure, NoSentenceNamesAFastestWhoseTimeIsInDoubt) {
  for (const double share : {0.001, 0.6}) {
    const std::string body = body_of(page_of(scans_with([&](json& r) {
      const bool is_shorter = is_time_of(r, "scan/cuda:blelloch");
      if (!is_shorter && !is_time_of(r, "scan/cuda:lookback")) return;
      if (r["case"]["n"].get<std::uint64_t>() < 1048576) return;
      scale(r, is_shorter ? 0.4 : 1);
      json& kernel = r["timing"]["kernel"];
      kernel["ci95_lo_ns"] = kernel["median_ns"].get<double>() * (1 - share);
      kernel["ci95_hi_ns"] = kernel["median_ns"].get<double>() * (1 + share);
    })));
    const std::size_t named = share < 0.1 ? 1 : 0;
    EXPECT_EQ(times_in(body, "cuda:lookback is the fastest up to 262,144"), named);
    EXPECT_EQ(times_in(body, "cuda:blelloch from 1,048,576 on"), named);
    EXPECT_EQ(times_in(body, " is the fastest up to "), named);
  }
}

/// Applies to the sizes at which a device wins. On the CPU, one thread's time can be trusted, and is surely longer.
TEST(ReportStructure, NoDeviceWinsWithItsTransfersByATimeInDoubt) {
  const auto with_doubts = [](const std::function<bool(const json&)>& is_one, const char* clock) {
    return body_of(page_of(scans_with([&](json& r) {
      if (r["status"] != "ok" || r["case"]["n"].get<std::uint64_t>() < 262144 || !is_one(r)) return;
      r["timing"][clock]["ci95_hi_ns"] = r["timing"][clock]["median_ns"].get<double>() * 1.12;
    })));
  };
  const auto has_transfers = [](const json& r) { return r["timing"].contains("round_trip"); };
  const auto is_ours_on_cpu = [](const json& r) { return is_time_of(r, "scan/cpu"); };
  const std::string wins = "With its transfers cuda:0 wins from n\u00a0=\u00a0262,144 on.";
  EXPECT_NE(with_doubts(has_transfers, "h2d").find(wins), std::string::npos) << "it decides nothing";
  for (const std::string& body : {with_doubts(has_transfers, "round_trip"), with_doubts(has_transfers, "kernel"),
                                  with_doubts(is_ours_on_cpu, "kernel")}) {
    EXPECT_EQ(times_in(body, " wins from "), 0u);
    EXPECT_NE(body.find("cuda:0 does not win at any size whose times can be trusted, up to n\u00a0=\u00a065,536."),
              std::string::npos);
  }
}

/// Only texts from records may be too long.
TEST(ReportStructure, NoWordsOfThePageAreCut) {
  EXPECT_EQ(body_of(page_of(made_up_records())).find(" bytes more)"), std::string::npos);
}

}  // namespace
}  // namespace tilewise::report
