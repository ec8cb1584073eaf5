// SPDX-License-Identifier: Apache-2.0
// The page claims no more than was measured: what the fastest was compared with, what computes something else, what a
// group consists of, which build it was. Its charts show the important series, each in one colour everywhere.
#include "page.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace tilewise::report {
namespace {

using nlohmann::json;

/// The made-up scans of f32.
std::vector<json> scans() {
  std::vector<json> records = of_no_document(made_up_records());
  std::erase_if(records, [](const json& r) {
    return r["case"]["dtype"] != "f32" || r["case"]["group"].get<std::string>().find("scan") != 0;
  });
  for (json& r : records) r.erase("course");
  return records;
}

bool is_of(const json& r, const char* variant) { return r["case"]["variant"] == variant; }
std::uint64_t size_of(const json& r) { return r["case"]["n"].get<std::uint64_t>(); }

void take(json& r, double ns) {
  if (r["status"] != "ok") return;
  for (const char* field : {"median_ns", "ci95_lo_ns", "ci95_hi_ns"}) r["timing"]["kernel"][field] = ns;
}

std::set<std::string> labels_of_times(const std::vector<json>& records) {
  std::set<std::string> labels;
  for (const json& chart : charts_of(page_of(records)))
    if (chart["kind"] == "lines" && chart["y"] == "kernel time")
      for (const json& line : chart["lines"]) labels.insert(line["label"].get<std::string>());
  return labels;
}

TEST(ReportClaims, ALadderNamesWhoWasNotThere) {
  std::vector<json> records = scans();
  const char* const all_there = "which has no time at this size";
  EXPECT_EQ(body_of(page_of(records)).find(all_there), std::string::npos);
  std::erase_if(records, [](const json& r) { return is_of(r, "scan/cuda:blelloch") && size_of(r) > 4096; });
  EXPECT_NE(body_of(page_of(records)).find("; without cuda:blelloch, which has no time at this size."),
            std::string::npos);
}

TEST(ReportClaims, ALadderHoldsAShortMethodAgainstItsBytes) {
  std::vector<json> records;
  const auto add = [&](const char* variant, double bytes, double operations, double ns) {
    json& r = records.emplace_back(scans().front());
    const std::string id = variant;
    r["case"]["algorithm"] = id.substr(0, id.find('/'));
    r["case"]["variant"] = id;
    r["case"]["backend"] = "cpu";
    r["case"]["dtype"] = "i32";
    r["case"]["group"] = "polymul";
    r["case"]["settings"] = json::object();
    r["case"]["bytes_min"] = bytes;
    r["case"]["operations"] = operations;
    take(r, ns);
    // In bytes per second, multiply-adds are as fast as the problem's operations allow.
    const double moved = id == "fma/cpu" ? 8e3 / 8e8 * operations : bytes;
    r["derived"] = {
        {"bytes_per_s", moved / ns * 1e9}, {"operations_per_s", operations / ns * 1e9}, {"plausible", true}};
  };
  add("polymul/cpu:naive", 8e3, 8e8, 9e6);
  add("polymul/cpu:ntt", 8e3, 8e8, 4e3);
  add("copy/cpu", 8e3, 0, 2e3);
  add("fma/cpu", 0, 1e6, 1e4);
  const std::string body = body_of(page_of(records));
  EXPECT_NE(body.find("The fastest of ours is cpu:ntt, 50 % of the device’s copy."), body.npos);
  const std::size_t begin = body.find("Each rung, slowest first.");
  const std::string ladder = body.substr(begin, body.find("</table>", begin) - begin);
  std::size_t at = 0;
  for (const char* rung : {">cpu:naive<", ">cpu:ntt<", ">copy<"}) {
    const std::size_t next = ladder.find(rung, at);
    ASSERT_NE(next, ladder.npos) << rung << " does not follow the slower ones";
    at = next;
  }
  EXPECT_NE(body.find("50 % of copy"), body.npos);
}

TEST(ReportClaims, WhatHasAnOrderOfItsOwnIsNoDevicesFastest) {
  std::vector<json> records = scans();
  const auto trips = [&] { return best_trips(make_model(typed(records)).panels.front().boards.back()).size(); };
  const std::size_t all = trips();
  for (json& r : records)
    if (is_of(r, "scan/cuda:lookback")) r["case"]["order"] = "own";
  EXPECT_EQ(trips(), all - 1) << "blelloch's are left, of which one is wrong";
}

TEST(ReportClaims, AJobOfAnotherOrderStandsBehindTheOthers) {
  std::vector<json> records = made_up_jobs();
  for (json& r : records)
    if (is_of(r, "scan/cuda:lookback")) r["case"]["order"] = "own";
  for (const json& chart : charts_of(page_of(records))) {
    if (chart["kind"] != "stack") continue;
    EXPECT_NE(chart["labels"].front(), "cuda:lookback on cuda:0 (own order)");
    EXPECT_EQ(chart["labels"].back(), "cuda:lookback on cuda:0 (own order)") << chart["labels"];
  }
}

TEST(ReportClaims, ACopyWithoutAnIntervalIsMarked) {
  std::vector<json> records = scans();
  const auto cells = [&] { return times_in(body_of(page_of(records)), "<td>? "); };
  const std::size_t before = cells();
  for (json& r : records)
    if (is_of(r, "scan/cuda:lookback") && size_of(r) == 268435456) {
      r["timing"]["h2d"]["ci95_lo_ns"] = r["timing"]["h2d"]["ci95_hi_ns"] = nullptr;
    }
  EXPECT_EQ(cells(), before + 1);
}

TEST(ReportClaims, WhatIsInDoubtIsNotSaidToBeBound) {
  std::vector<json> records = scans();
  std::erase_if(records, [](const json& r) { return r["device"]["name"] != "cuda:0" || size_of(r) < 1 << 20; });
  json arithmetic = *std::find_if(records.begin(), records.end(), [](const json& r) { return is_of(r, "copy/cuda"); });
  arithmetic["case"]["algorithm"] = "muladd", arithmetic["case"]["variant"] = "muladd/cuda";
  arithmetic["derived"]["operations_per_s"] = 1e13;
  records.push_back(arithmetic);
  EXPECT_NE(body_of(page_of(records)).find("Bound by memory: scan."), std::string::npos);
  std::vector<json> unsure = records;
  for (json& r : unsure)
    if (is_of(r, "copy/cuda")) r["timing"]["kernel"]["ci95_lo_ns"] = nullptr;
  EXPECT_NE(body_of(page_of(unsure)).find("Bound by memory: ? scan."), std::string::npos) << "the limit is in doubt";
  for (json& r : records)
    if (r["case"]["algorithm"] == "scan" && r["status"] == "ok") widen(r);
  EXPECT_EQ(body_of(page_of(records)).find("Bound by memory: scan."), std::string::npos);
}

TEST(ReportClaims, AGroupHasTheUnitsOfItsDevices) {
  const auto device_line = [](const char* backend) {
    std::vector<json> records = scans();
    for (json& r : records)
      if (r["device"]["name"] == "cuda:0") r["device"]["name"] = "4*cuda:0", r["device"]["backend"] = backend;
    const std::string body = body_of(page_of(records));
    const std::size_t at = body.find("<th>4*cuda:0<", body.find("The noise floor comes from"));
    return row_from(body, at);
  };
  EXPECT_NE(device_line("cuda").find("<td>132<"), std::string::npos);
  EXPECT_EQ(device_line("group").find("132"), std::string::npos) << "the sum over ranks of one device is not its units";
  EXPECT_EQ(device_line("group").find("GiB<"), std::string::npos);
}

TEST(ReportClaims, BuildsWithUncommittedChangesAreCounted) {
  std::vector<json> records = scans();
  EXPECT_EQ(body_of(page_of(records)).find("uncommitted"), std::string::npos);
  for (std::size_t i = 5; i < 8; ++i) records[i]["tool"]["dirty"] = true;
  const std::string told = "3 of its " + std::to_string(records.size()) + " records come from a build with uncommitted";
  EXPECT_NE(body_of(page_of(records)).find(told), std::string::npos) << "the first record's build has none";
}

TEST(ReportClaims, DevicesOfOtherPeoplesCodeDoNotShareTheBits) {
  std::vector<json> records = scans();
  std::erase_if(records, [](const json& r) { return r["status"] != "ok"; });
  const std::string told = bits_finding(make_model(typed(records)));
  EXPECT_NE(told.find("have the same bits, on "), std::string::npos) << told;
  for (json& r : records)
    if (r["case"]["order"] == "own") r["device"]["name"] = "cpu:pool";
  EXPECT_EQ(bits_finding(make_model(typed(records))), told);
}

TEST(ReportClaims, AListNeverHidesOneNameAlone) {
  const std::vector<std::string> names{"a", "b", "c", "d"};
  EXPECT_EQ(listed(names, 4), "a, b, c and d");
  EXPECT_EQ(listed(names, 3), "a, b, c and d");
  EXPECT_EQ(listed(names, 2), "a, b and 2 more");
}

TEST(ReportClaims, AShareIsNearItsLimitByTheDigitsThatAreShown) {
  for (const double share : {0.796, 0.8, 0.9}) EXPECT_TRUE(is_near_its_limit(share)) << percent(share);
  EXPECT_FALSE(is_near_its_limit(0.794)) << percent(0.794);
}

TEST(ReportClaims, ATimeInDoubtWithoutAPeerHasNone) {
  std::vector<json> records = scans();
  std::erase_if(records, [](const json& r) { return r["case"]["peer"] == true; });
  for (json& r : records)
    if (r["device"]["name"] == "cuda:0" && r["status"] == "ok") widen(r);
  EXPECT_NE(matrix_of(body_of(page_of(records))).find("<b>no peer</b>"), std::string::npos);
}

TEST(ReportClaims, ARatioThatDecidesNothingNamesItsEnds) {
  const auto why = [](double low, double high) {
    std::vector<json> records = scans();
    for (json& r : records)
      if (is_of(r, "scan/cuda:lookback") && r["status"] == "ok" && !r["ratios"].empty())
        r["ratios"][0]["ci95_lo"] = low, r["ratios"][0]["ci95_hi"] = high;
    return body_of(page_of(records));
  };
  EXPECT_NE(why(0.9, 1.1).find("between 0.9000 and 1.100<"), std::string::npos) << "that holds 1";
}

TEST(ReportCharts, ThePeerOfOtherSizesAndTheFastestOfSmallOnesAreAmongTheLines) {
  std::vector<json> records = scans();
  EXPECT_FALSE(labels_of_times(records).contains("cuda:blelloch"));
  std::erase_if(records, [](const json& r) { return is_of(r, "scan/cuda:cub") && size_of(r) > 16777217; });
  for (json& r : records)
    if (is_of(r, "scan/cuda:blelloch") && size_of(r) <= 65536) take(r, 1);
  const std::set<std::string> labels = labels_of_times(records);
  EXPECT_TRUE(labels.contains("cuda:cub (peer)")) << "its largest size is none of ours";
  EXPECT_TRUE(labels.contains("cuda:blelloch"));
  EXPECT_TRUE(labels.contains("cuda:lookback"));
}

TEST(ReportCharts, ADeviceOfSmallProblemsTakesNobodysLine) {
  std::vector<json> records = scans();
  const std::vector<json> measured = records;
  for (int device = 1; device < 6; ++device)
    for (const json& r : measured) {
      if (r["device"]["name"] != "opencl:0" || size_of(r) > 65536) continue;
      json& slow = records.emplace_back(r);
      const std::string name = "opencl:" + std::to_string(device), group = r["case"]["group"];
      slow["device"]["name"] = name;
      slow["case"]["group"] = group.substr(0, group.find('@')) + "@" + name;
    }
  EXPECT_TRUE(labels_of_times(records).contains("cuda:lookback")) << "its time is longer, its problem a thousand times";
}

TEST(ReportCharts, AVariantHasOneColourThroughout) {
  std::vector<json> records = scans();
  std::vector<json> doubles = records;
  for (json& r : doubles) {
    r["case"]["dtype"] = "f64";
    r["case"]["group"] = "f64 " + r["case"]["group"].get<std::string>();
    if (is_of(r, "scan/cuda:lookback")) take(r, 1e9);  // otherwise another one is first
  }
  records.insert(records.end(), doubles.begin(), doubles.end());
  std::map<std::string, std::set<std::string>> colours;
  std::size_t lines = 0;
  for (const json& chart : charts_of(page_of(records)))
    for (const char* parts : {"lines", "bars"})
      for (const json& line : chart.value(parts, json::array())) {
        const std::string label = line["label"];
        if (label.find("with transfers") != label.npos || label == "best on cpu") continue;
        colours[label].insert(line["colour"].get<std::string>());
        ++lines;
      }
  EXPECT_GT(lines, 20u);
  for (const auto& [label, of] : colours) EXPECT_EQ(of.size(), 1u) << label;
  EXPECT_NE(colours["cuda:lookback"], colours["opencl:chunked"]);
}

}  // namespace
}  // namespace tilewise::report
