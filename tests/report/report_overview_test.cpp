// SPDX-License-Identifier: Apache-2.0
// The first screen: a result in doubt never wins, no verdict is shown by colour alone, and no limit is named that does
// not bound.
#include "report/format.hpp"
#include "standing_fixture.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace tilewise::report {
namespace {

using nlohmann::json;

TEST(ReportOverview, WhatIsInDoubtIsNeverTheFastest) {
  const auto nothing = [](json&) {};
  EXPECT_EQ(on_gpu(scans_with(nothing)).ours->variant, "scan/cuda:lookback");
  EXPECT_NE(verdict_of(scans_with(nothing)).find("Fastest at the largest size: cuda:0 for scan."), std::string::npos);
  const auto no_interval = [](json& r) { r["timing"]["kernel"]["ci95_lo_ns"] = nullptr; };
  const auto implausible = [](json& r) { r["derived"]["plausible"] = false; };
  const auto wide_beyond_the_next = [](json& r) { r["timing"]["kernel"]["ci95_hi_ns"] = 1e12; };
  for (const std::function<void(json&)>& spoil :
       {std::function<void(json&)>(wide_beyond_the_next), {no_interval}, {implausible}}) {
    const std::vector<json> records = scans_with([&](json& r) {
      if (is_time_of(r, "scan/cuda:lookback")) spoil(r);
    });
    const standing s = on_gpu(records);
    EXPECT_EQ(s.ours->variant, "scan/cuda:blelloch");
    EXPECT_NE(s.why.find("cuda:lookback takes "), std::string::npos) << s.why;
    EXPECT_NE(matrix_of(body_of(page_of(records))).find("cuda:lookback takes "), std::string::npos);
  }
}

TEST(ReportOverview, WithoutAnyPeerThereIsNoCountOfThem) {
  std::vector<json> records = scans_with([](json&) {});
  EXPECT_NE(verdict_of(records).find("Speed against the best other library on "), std::string::npos);
  std::erase_if(records, [](const json& r) { return r["case"]["peer"].get<bool>(); });
  const std::string verdict = verdict_of(records);
  EXPECT_NE(verdict.find("No other library was measured beside ours."), verdict.npos) << verdict;
  EXPECT_EQ(verdict.find("best other library"), verdict.npos) << verdict;
}

TEST(ReportOverview, WhatIsSlowerForSureDoesNotStandInForATimeInDoubt) {
  const std::vector<json> records = scans_with([](json& r) {
    if (is_time_of(r, "scan/cuda:lookback")) widen(r);
  });
  const standing s = on_gpu(records);
  EXPECT_EQ(s.ours->variant, "scan/cuda:lookback");
  EXPECT_EQ(s.position, position::in_doubt);
  EXPECT_EQ(s.why, "interval ± 12 %");
}

TEST(ReportOverview, WhereAllIsInDoubtTheReasonStandsInTheCell) {
  const std::vector<json> records = scans_with([](json& r) {
    if (r["device"]["name"] == "cuda:0" && r["status"] == "ok") widen(r);
  });
  const standing s = on_gpu(records);
  EXPECT_EQ(s.position, position::in_doubt);
  EXPECT_EQ(s.why, "interval ± 12 %");
  const std::string matrix = matrix_of(body_of(page_of(records)));
  EXPECT_NE(matrix.find("<b>too noisy to say</b><small>"), std::string::npos) << matrix;
  EXPECT_NE(matrix.find("<small>interval ± 12 %</small>"), std::string::npos) << matrix;
  EXPECT_NE(verdict_of(records).find("Fastest at the largest size: cuda:0 for scan."), std::string::npos)
      << "its interval ends before the others begin" << verdict_of(records);
  EXPECT_NE(verdict_of(records).find("Too close or too noisy to say: scan on cuda:0"), std::string::npos)
      << verdict_of(records);
}

TEST(ReportOverview, WhereTheLargestIsInDoubtASmallerProblemIsToldToo) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 28;  // of the made-up records
  const auto in_doubt_from = [&](std::uint64_t n) {
    return scans_with([&](json& r) {
      if (r["device"]["name"] == "cuda:0" && r["status"] == "ok" && r["case"]["n"] >= n) widen(r);
    });
  };
  const auto words_of = [](const std::vector<json>& records) { return matrix_of(body_of(page_of(records))); };
  const std::string told = words_of(in_doubt_from(largest));
  EXPECT_TRUE(std::regex_search(told, std::regex("<small>at n[^<]*134,217,728: [^<]* ahead</small>"))) << told;
  EXPECT_EQ(words_of(in_doubt_from(largest / 16)).find("<small>at n"), std::string::npos) << "too small to speak of";
  EXPECT_EQ(words_of(scans_with([](json&) {})).find("<small>at n"), std::string::npos);
}

TEST(ReportOverview, ATimeInDoubtIsTheFastestWhereItsIntervalEndsBeforeTheOthersBegin) {
  const auto in_doubt = [](double as_long) {
    return verdict_of(scans_with([&](json& r) {
      if (r["device"]["name"] != "cuda:0" || r["status"] != "ok") return;
      scale(r, as_long);
      widen(r);
    }));
  };
  EXPECT_NE(in_doubt(0.1).find("Fastest at the largest size: cuda:0 for scan."), std::string::npos) << in_doubt(0.1);
  EXPECT_NE(in_doubt(0.1).find("Too close or too noisy to say: scan on cuda:0"), std::string::npos)
      << "against its peer";
  const std::string almost = in_doubt(1.5);
  EXPECT_NE(almost.find("No fastest device can be named"), std::string::npos) << almost;
  const std::string all_in_doubt = verdict_of(scans_with([&](json& r) {
    if (r["status"] != "ok") return;
    if (r["device"]["name"] == "cuda:0") scale(r, 1.5);
    widen(r);
  }));
  EXPECT_NE(all_in_doubt.find("No fastest device can be named"), std::string::npos) << all_in_doubt;
}

TEST(ReportOverview, ATimeInDoubtThatIsHeldAgainstNoOtherIsNotTheFastest) {
  std::vector<json> alone = scans_with([](json& r) {
    if (r["status"] == "ok") r["timing"]["kernel"]["ci95_lo_ns"] = nullptr;
  });
  std::erase_if(alone, [](const json& r) { return r["device"]["name"] != "cuda:0"; });
  EXPECT_NE(verdict_of(alone).find("No fastest device can be named"), std::string::npos) << verdict_of(alone);
}

TEST(ReportOverview, WhatIsInDoubtIsMarkedInItsSentencesToo) {
  const auto told = [](bool is_in_doubt) {
    return body_of(page_of(scans_with([&](json& r) {
      if (!is_in_doubt || r["status"] != "ok" || r["case"]["algorithm"] != "scan") return;
      if (r["case"]["n"] <= 1024) widen(r);
      for (const char* copy : {"h2d", "d2h"})
        if (r["timing"][copy].is_object()) r["timing"][copy]["ci95_hi_ns"] = nullptr;
    })));
  };
  const auto has = [](const std::string& body, const char* pattern) {
    return std::regex_search(body, std::regex(pattern));
  };
  for (const char* pattern : {"take from \\? [0-9.]+ [^ ]+ \\(scan", "Copies to a device and back take from \\? ",
                              "the kernel takes \\? [0-9.]+ % of"}) {
    EXPECT_TRUE(has(told(true), pattern)) << pattern;
    EXPECT_FALSE(has(told(false), pattern)) << pattern;
  }
}

TEST(ReportOverview, WhatRestsOnATimeInDoubtIsMarkedWhereverItIsTold) {
  const auto body = [](bool is_in_doubt) {
    return body_of(page_of(scans_with([&](json& r) {
      if (!is_time_of(r, "scan/cuda:lookback")) return;
      r["ratios"] = json::array();
      if (is_in_doubt) widen(r);
    })));
  };
  const std::string cell = "<td>\\? [^<]+", ladder = "<th>cuda:lookback" + cell + cell + "<td>\\? × [0-9.]+<";
  const std::string peer = "<td>cuda:lookback, \\? [^<]+<td>\\? [0-9.]+ \\(",
                    first = "<small>\\? [^<]+, cuda:lookback<";
  for (const std::string& pattern : {ladder, peer, first}) {
    EXPECT_TRUE(std::regex_search(body(true), std::regex(pattern))) << pattern;
    EXPECT_FALSE(std::regex_search(body(false), std::regex(pattern))) << pattern;
  }
}

TEST(ReportOverview, TheTableOfPeersSaysWhatTheCellSays) {
  const std::string page = page_of(scans_with([](json& r) {
    if (is_time_of(r, "scan/cuda:lookback")) r["ratios"] = json::array();
    if (is_time_of(r, "scan/cuda:cub")) scale(r, 3), widen(r);
  }));
  EXPECT_NE(matrix_of(body_of(page)).find("<b>ahead</b>"), std::string::npos);
  EXPECT_NE(page.find(">ahead: the peer: interval ± 12 %<"), std::string::npos);
}

TEST(ReportOverview, WhatBoundsATimeIsNamedNearTheLimitAlone) {
  const auto at = [](double share, const char* bound) {
    std::vector<json> records = scans_with([&](json& r) {
      if (!is_time_of(r, "scan/cuda:lookback")) return;
      r["derived"]["fraction_of_ceiling"] = share;
      r["derived"]["ceiling"] = bound;
    });
    std::erase_if(records, [](const json& r) { return r["case"]["algorithm"] == "copy"; });  // else copies limit
    return records;
  };
  const auto cell = [&](double share, const char* bound) { return matrix_of(body_of(page_of(at(share, bound)))); };
  EXPECT_NE(cell(0.9, "copy").find("<div>memory-bound, 90 % of copy</div>"), std::string::npos) << cell(0.9, "copy");
  EXPECT_NE(cell(0.81, "fma").find("<div>arithmetic-bound, 81 % of fma</div>"), std::string::npos) << cell(0.81, "fma");
  EXPECT_NE(cell(0.79, "copy").find("<div>79 % of copy</div>"), std::string::npos) << cell(0.79, "copy");
  const std::string memory = verdict_of(at(0.9, "copy")), arithmetic = verdict_of(at(0.9, "fma"));
  EXPECT_NE(memory.find("Memory bounds scan (90 %) on cuda:0 and scan (87 %) on cpu: at 80 % of its limit or more"),
            std::string::npos)
      << memory;
  EXPECT_NE(arithmetic.find("Arithmetic bounds scan (90 %) on cuda:0"), std::string::npos) << arithmetic;
}

TEST(ReportOverview, WhatIsAboveALimitInDoubtIsNotSaidToBeBoundByIt) {
  const auto records = [](bool is_limit_sure) {
    return scans_with([&](json& r) {
      if (r["case"]["algorithm"] != "copy" || r["status"] != "ok") return;
      scale(r, 2);
      if (!is_limit_sure) widen(r);
    });
  };
  const std::string sure = verdict_of(records(true)), unsure = verdict_of(records(false));
  EXPECT_TRUE(std::regex_search(sure, std::regex("Memory bounds scan \\(1[0-9]0 %\\) on cuda:0"))) << sure;
  EXPECT_EQ(unsure.find("bounds scan"), std::string::npos) << unsure;
  EXPECT_TRUE(std::regex_search(unsure, std::regex("are? above a limit in doubt"))) << unsure;
  EXPECT_EQ(matrix_of(body_of(page_of(records(false)))).find("memory-bound, ? 1"), std::string::npos);
  const std::regex ladder("times as fast, \\? 1[0-9]0 % of the device’s copy");
  EXPECT_FALSE(std::regex_search(body_of(page_of(records(false))), ladder));
}

TEST(ReportOverview, ALimitInDoubtMakesNoTimeImpossible) {
  const auto body = [](bool is_limit_sure, const char* reason) {
    return body_of(page_of(scans_with([&](json& r) {
      if (is_time_of(r, "copy/cuda") && !is_limit_sure) widen(r);
      if (!is_time_of(r, "scan/cuda:lookback")) return;
      r["derived"]["plausible"] = false;
      r["reason"] = reason;
    })));
  };
  const char* const impossible = "cannot be true: ";
  EXPECT_NE(body(true, "").find(impossible), std::string::npos);
  EXPECT_FALSE(std::regex_search(body(false, ""), std::regex("[0-9] cannot be true"))) << "nor is it counted as that";
  EXPECT_EQ(body(false, "").find(impossible), std::string::npos) << "it was held against that limit alone";
  EXPECT_NE(body(false, "").find("faster than its limit allows, of which the time is in doubt"), std::string::npos);
  EXPECT_NE(body(false, "its round trip is shorter").find(impossible), std::string::npos);
}

TEST(ReportOverview, AnAlgorithmsNameLeadsToItsSection) {
  const std::string body = body_of(page_of(made_up_records()));
  const std::string link = "<th><a href=\"#";
  const std::size_t begin = body.find(link) + link.size(), end = body.find('"', begin);
  const std::string section = "<section id=\"" + body.substr(begin, end - begin) + "\"><h2>scan</h2>";
  EXPECT_NE(body.find(section), std::string::npos) << section;
}

TEST(ReportOverview, WithoutAPeerAtTheLargestSizeTheOneAtTheNextCounts) {
  const standing all = on_gpu(scans_with([](json&) {}));
  const std::uint64_t largest = all.ours->n;
  const standing s = on_gpu(scans_with([&](json& r) {
    if (is_time_of(r, "scan/cuda:cub") && r["case"]["n"] == largest) r["status"] = "failed";
  }));
  EXPECT_EQ(s.ours->n, largest);
  ASSERT_NE(s.peer, nullptr);
  EXPECT_LT(s.peer->n, largest);
  EXPECT_EQ(s.position, position::ahead);
  EXPECT_EQ(s.why, "the peer at " + s.peer->at());
}

TEST(ReportOverview, WhereAPeerIsAheadIsToldOfWhatNoCellShowsToo) {
  const auto with_fast_peer_at = [](std::uint64_t n) {
    return verdict_of(scans_with([&](json& r) {
      if (r["case"]["n"] != n) return;
      if (is_time_of(r, "scan/cuda:lookback")) r["ratios"] = json::array();
      if (is_time_of(r, "scan/cuda:cub")) scale(r, 0.25);
    }));
  };
  constexpr std::uint64_t largest = std::uint64_t{1} << 28;  // of the made-up records
  const std::string always = "scan f32 on cpu (0.0254 × cpu:std at n\u00a0=\u00a064)";
  const auto one = " other types a peer is ahead in 1: " + always + ".";
  EXPECT_NE(with_fast_peer_at(0).find(one), std::string::npos) << with_fast_peer_at(0);
  EXPECT_NE(with_fast_peer_at(largest).find(one), std::string::npos) << "the other is in its cell";
  const std::string two =
      " ahead in 2: " + always + " and scan f32 on cuda:0 (0.270 × cuda:cub at n\u00a0=\u00a01,024).";
  EXPECT_NE(with_fast_peer_at(1024).find(two), std::string::npos) << with_fast_peer_at(1024);
}

TEST(ReportOverview, EachCellHasAColourAndAWord) {
  const std::string matrix = matrix_of(body_of(page_of(made_up_records())));
  const std::regex cell(
      "<td><div class=\"(ahead|par|behind|unclear|alone|doubt|none)\"><span class=\"place\">[^<]*</span>"
      "(<strong>[^<]*</strong> [^<]*, )?<b>(ahead|on a par|behind|too close to say|no peer|too noisy to say|not "
      "measured)"
      "</b>");
  const auto found = std::distance(std::sregex_iterator(matrix.begin(), matrix.end(), cell), std::sregex_iterator());
  EXPECT_EQ(static_cast<std::size_t>(found), times_in(matrix, "<td>"));
  EXPECT_EQ(found, 6) << "two algorithms on three processors";
  EXPECT_NE(body_of(page_of(made_up_records())).find("2 × is twice as fast as the best other library"),
            std::string::npos);
  EXPECT_NE(matrix.find("n\u00a0=\u00a0268,435,456"), std::string::npos) << "the largest size, named";
}

TEST(ReportOverview, AmongSeveralMachinesTheFastestIsNamedByItsHardware) {
  const auto on_machines = [](std::size_t number, const std::string& hardware = "") {
    std::vector<json> records;
    for (std::size_t i = 0; i < number; ++i)
      for (json r : scans_with([](json&) {})) {
        r["host"]["hostname"] = "host" + std::to_string(i);
        r["device"]["description"] = hardware.empty() ? "hardware " + std::to_string(i) : hardware;
        if (i == 1 && is_time_of(r, "scan/cuda:lookback")) scale(r, 0.5);
        records.push_back(r);
      }
    return records;
  };
  EXPECT_NE(verdict_of(on_machines(2)).find("Fastest at the largest size: hardware 1 (cuda:0) for scan."),
            std::string::npos)
      << verdict_of(on_machines(2));
  EXPECT_NE(verdict_of(on_machines(2, "the same")).find("Fastest at the largest size: cuda:0 of host1 ("),
            std::string::npos)
      << verdict_of(on_machines(2, "the same"));
  EXPECT_EQ(page_of(on_machines(2)).find("The 2 machines"), std::string::npos);
  const std::string many = page_of(on_machines(3));
  EXPECT_NE(many.find("<h1>Tilewise on 3 machines</h1>"), std::string::npos);
  EXPECT_LT(many.find("<summary>The 3 machines</summary>"), many.find("<ul class=\"verdict\">")) << "folded";
}

TEST(ReportOverview, WhatKeepingTheOrderMeansIsALinkAway) {
  const std::string body = body_of(page_of(made_up_records()));
  const std::size_t link = body.find("<a href=\"#order\">"),
                    told = body.find(" id=\"order\">The order of operations: ");
  EXPECT_LT(link, body.find("<div class=\"matrix\">"));
  EXPECT_NE(told, std::string::npos);
}

TEST(ReportOverview, ACopyIsNoLimitOfArithmetic) {
  const auto of_intensity = [](double operations_per_byte, const char* mode) {
    return scans_with([&](json& r) {
      r["case"]["operations"] = r["case"]["bytes_min"].get<double>() * operations_per_byte;
      r["case"]["mode"] = mode;
    });
  };
  for (const double few : {0.125, 7.9}) {
    const std::string body = body_of(page_of(of_intensity(few, "hot")));
    EXPECT_NE(matrix_of(body).find(" % of copy"), std::string::npos) << few;
    EXPECT_EQ(body.find("no limit measured"), std::string::npos) << few;
  }
  const std::string body = body_of(page_of(of_intensity(100, "hot")));
  EXPECT_EQ(times_in(matrix_of(body), "no limit measured"), 3u);
  EXPECT_EQ(body.find("of copy"), std::string::npos);
  EXPECT_EQ(body.find("plain copy"), std::string::npos) << "the ladder ends without it";
  EXPECT_NE(body.find("No limit was measured"), std::string::npos);
  EXPECT_NE(body_of(page_of(of_intensity(100, "file_to_file"))).find(" % of copy"), std::string::npos)
      << "a job is held against moving its data";
}

}  // namespace
}  // namespace tilewise::report
