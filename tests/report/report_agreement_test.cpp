// SPDX-License-Identifier: Apache-2.0
// Statements at different places of the page agree: a limit, the fastest variant, how much is in doubt, a name.
#include "page.hpp"
#include "report/findings.hpp"
#include "tables.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <regex>
#include <set>

namespace tilewise::report {
namespace {

using nlohmann::json;

/// The bars, by label, of the ladder that contains this step.
std::map<std::string, json> ladder_with(const std::string& rung, const std::string& page) {
  for (const json& chart : charts_of(page)) {
    std::map<std::string, json> bars;
    for (const json& bar : chart.value("bars", json::array())) bars[bar["label"]] = bar;
    if (bars.contains(rung)) return bars;
  }
  return {};
}

TEST(ReportAgreement, TheLimitOfALadderAndOfAChartIsThatOfTheShare) {
  std::vector<json> records = scans_with([](json&) {});
  std::vector<json> earlier = records;  // a run in which the copy was faster
  std::erase_if(earlier, [](const json& r) { return !is_time_of(r, "copy/cuda"); });
  for (json& r : earlier) scale(r, 0.8);
  records.insert(records.begin(), earlier.begin(), earlier.end());
  const model m = make_model(typed(records));
  const board& gpu = m.panels.front().boards.back();
  const row& ours = *gpu.fastest(role::tilewise, gpu.largest_size())->at(gpu.largest_size());
  ASSERT_EQ(ours.variant, "scan/cuda:lookback");
  const double limit = *ours.bytes_per_s / *ours.fraction;
  const std::string page = page_of(records);
  std::map<std::string, json> bars = ladder_with("cuda:lookback", page);
  EXPECT_NEAR(bars["copy"]["value"].get<double>(), limit, 1e-6 * limit);
  std::size_t lines = 0;
  for (const json& chart : charts_of(page))
    for (const json& line : chart.value("lines", json::array()))
      if (line["label"] == "limit on cuda:0") {
        EXPECT_NEAR(line["points"].back()[1].get<double>(), limit, 1e-6 * limit);
        ++lines;
      }
  EXPECT_EQ(lines, 1u);
}

TEST(ReportAgreement, TheLadderNamesTheFastestThatTheFirstScreenNames) {
  const auto page_with = [](const std::function<void(json&)>& spoil) {
    return page_of(scans_with([&](json& r) {
      if (is_time_of(r, "scan/cuda:lookback")) spoil(r);
    }));
  };
  const std::string wide = page_with(widen);
  EXPECT_NE(wide.find("to cuda:lookback: ? "), std::string::npos) << "its interval ends before the others begin";
  EXPECT_TRUE(ladder_with("cuda:lookback", wide)["cuda:lookback"]["hollow"]);
  EXPECT_FALSE(ladder_with("cuda:lookback", wide)["cuda:blelloch"]["hollow"]);
  const std::string implausible = page_with([](json& r) { r["derived"]["plausible"] = false; });
  EXPECT_NE(implausible.find("to cuda:blelloch: "), std::string::npos);
  EXPECT_EQ(implausible.find("to cuda:lookback: "), std::string::npos);
}

TEST(ReportAgreement, ALimitOfArithmeticIsToldInOperationsBesideTheUnitOfTheOthers) {
  std::vector<json> records = scans_with([&](json& r) {
    if (r["status"] == "ok") r["derived"]["fraction_of_ceiling"] = 0.5, r["derived"]["ceiling"] = "muladd";
  });
  std::erase_if(records, [](const json& r) { return r["case"]["algorithm"] == "copy"; });
  const std::string body = body_of(page_of(records));
  const std::regex rung("<th>muladd<td>[^<]*<td>[^<]*B/s(<td>[^<]*){2}<td>[0-9.]+ GFLOP/s<");
  EXPECT_TRUE(std::regex_search(body, rung)) << body.substr(body.find("<th>muladd<"), 300);
}

TEST(ReportAgreement, NobodyIsTheFastestWhereTwoInDoubtAreSurelyFasterThanTheRest) {
  std::vector<json> records = scans_with([](json& r) {
    if (is_time_of(r, "scan/cuda:lookback")) widen(r);
  });
  for (json r : std::vector<json>(records)) {
    if (!is_time_of(r, "scan/cuda:lookback")) continue;
    r["case"]["variant"] = "scan/cuda:another";
    scale(r, 1.01);
    records.push_back(r);
  }
  const model m = make_model(typed(records));
  const board& gpu = m.panels.front().boards.back();
  EXPECT_EQ(gpu.fastest(role::tilewise, gpu.largest_size()), nullptr);
  EXPECT_EQ(gpu.fastest_shown(role::tilewise, gpu.largest_size())->label, "cuda:lookback");
}

TEST(ReportAgreement, OfAVariantsExecutorsTheLadderShowsTheOneThatIsSurelyFaster) {
  const auto shown = [](double as_long) {
    return ladder_with("cpu:std (peer)", page_of(scans_with([&](json& r) {
                         if (!is_time_of(r, "scan/cpu") || r["device"]["name"] != "cpu:threads") return;
                         scale(r, as_long);
                         widen(r);
                       })));
  };
  EXPECT_TRUE(shown(0.5).contains("cpu @cpu:threads"));
  EXPECT_TRUE(shown(1).contains("cpu @cpu:openmp")) << "which can be trusted, and may be the faster one";
}

TEST(ReportAgreement, AVerdictByTurnsStandsUnlessATimeCannotBeTrue) {
  const auto verdict_with = [](const auto& spoil) {
    const std::string page = page_of(scans_with([&](json& r) {
      if (is_time_of(r, "scan/cuda:cub")) spoil(r);
    }));
    std::smatch found;
    EXPECT_TRUE(std::regex_search(page, found,
                                  std::regex("<th>cuda:lookback<td>cuda:cub \\(peer\\)"
                                             "<td>cuda:0<td>1,024<td>[^<]*<td>([^<]*)<")));
    return found.str(1);
  };
  EXPECT_EQ(verdict_with(widen), "faster");
  EXPECT_EQ(verdict_with([](json& r) { r["derived"]["plausible"] = false; }).rfind("unclear: cuda:cub (peer) ", 0), 0u);
}

/// All pairs would be half of a page, and a copy does other work.
TEST(ReportAgreement, RatiosAreThoseOfOurFastestToRowsThatDoItsWork) {
  const std::string page = page_of(scans_with([](json& r) {
    for (const char* other : {"scan/cuda:blelloch", "scan/cuda:cub", "copy/cuda"})
      if (is_time_of(r, "scan/cuda:lookback") || is_time_of(r, "scan/cuda:blelloch"))
        r["ratios"].push_back({{"to", other}, {"median", 2}, {"ci95_lo", 2}, {"ci95_hi", 2}});
  }));
  std::set<std::string> pairs;
  for (const auto& line : rows_below(page, "Our fastest variant at each size and another"))
    pairs.insert(line[0] + ", " + line[1]);
  EXPECT_EQ(pairs, (std::set<std::string>{"cuda:lookback, cuda:blelloch", "cuda:lookback, cuda:cub (peer)"}));
}

TEST(ReportAgreement, AShareOfALimitInDoubtIsMarked) {
  const auto marked = [](const char* spoiled) {
    return times_in(matrix_of(body_of(page_of(scans_with([&](json& r) {
                      if (is_time_of(r, spoiled)) widen(r);
                    })))),
                    "memory-bound, ? ");
  };
  EXPECT_EQ(marked("copy/cuda"), 1u);
  EXPECT_EQ(marked("copy/cpu"), 1u);
  EXPECT_EQ(marked("nothing"), 0u);
}

TEST(ReportAgreement, AsManyTimesAreInDoubtOnTheFirstScreenAsBelow) {
  const auto told = [](bool is_copy_wide) {
    std::vector<json> records = scans_with([&](json& r) {
      if (is_time_of(r, "scan/cuda:blelloch") || (is_copy_wide && is_time_of(r, "copy/cuda"))) widen(r);
    });
    records.push_back(records.front());  // a case once more
    const std::string body = body_of(page_of(records));
    std::smatch above;
    EXPECT_TRUE(std::regex_search(body, above, std::regex("([0-9]+ of [0-9]+) times are in doubt")));
    EXPECT_NE(body.find(above.str(1) + " times here are in doubt"), std::string::npos) << above.str();
    return above.str(1);
  };
  EXPECT_EQ(told(false), told(true)) << "a copy is no time of the problem";
}

TEST(ReportAgreement, WhereThereIsNoPeerNoHeadingNamesThem) {
  std::vector<json> records = scans_with([](json&) {});
  EXPECT_NE(page_of(records).find("<h4>The peers</h4>"), std::string::npos);
  std::erase_if(records, [](const json& r) { return r["case"]["peer"] == true; });
  const std::string page = page_of(records);
  EXPECT_NE(page.find("ratios from interleaved rounds"), std::string::npos);
  EXPECT_EQ(page.find("<h4>The peers</h4>"), std::string::npos);
}

TEST(ReportAgreement, ALadderOfOneRungIsToldInWords) {
  std::vector<json> records = scans_with([](json& r) {
    if (r["status"] == "ok") r["derived"].erase("fraction_of_ceiling");
  });
  std::erase_if(records, [](const json& r) { return !is_time_of(r, "scan/cuda:lookback"); });
  EXPECT_NE(page_of(records).find("Nothing else than cuda:lookback has a time."), std::string::npos);
}

TEST(ReportAgreement, WhatNeedsFewerOperationsThanAreCountedIsNotLeftUnsaid) {
  std::vector<json> records = scans_with([](json& r) {
    if (r["status"] != "ok") return;
    r["derived"]["ceiling"] = "muladd";
    r["derived"]["fraction_of_ceiling"] = is_time_of(r, "scan/cuda:lookback") ? 1.5 : 0.7;
  });
  std::erase_if(records, [](const json& r) { return r["case"]["algorithm"] == "copy"; });  // else copies limit
  EXPECT_NE(page_of(records).find("; 1 needs fewer operations than are counted."), std::string::npos);
}

TEST(ReportAgreement, TheFirstScreenTellsOfSmallProblemsAndOfCopies) {
  const std::string body = body_of(page_of(scans_with([](json&) {})));
  EXPECT_TRUE(std::regex_search(
      body, std::regex("<li>The smallest problems, such as n[^,]*64, take from [^<]*cpu\\) to [^<]*; against the best "
                       "peer ours is [^<]*\\.</li>")))
      << body.substr(0, 3000);
  EXPECT_NE(body.find("Copies to a device and back take from "), std::string::npos);
  const std::string of_one_size = body_of(page_of(scans_with([](json& r) {
    if (r["case"]["n"] != 1048576) r["status"] = "failed";
    if (r["status"] == "ok") r["timing"].erase("h2d");
  })));
  EXPECT_EQ(of_one_size.find("The smallest problems"), std::string::npos);
  EXPECT_EQ(of_one_size.find("Copies to a device"), std::string::npos);
}

TEST(ReportAgreement, WhereNoCpuWasMeasuredTheTitleNamesWhatWas) {
  const auto titled = [](bool has_cpu) {
    std::vector<json> records = scans_with([](json&) {});
    if (!has_cpu) std::erase_if(records, [](const json& r) { return r["device"]["is_cpu"] == true; });
    return page_of(records).find("<h1>Tilewise on Imaginary GPU 9000, in ") != std::string::npos;
  };
  EXPECT_TRUE(titled(false));
  EXPECT_FALSE(titled(true));
}

}  // namespace
}  // namespace tilewise::report
