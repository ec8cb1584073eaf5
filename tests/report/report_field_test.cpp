// SPDX-License-Identifier: Apache-2.0
// The diffusing field in the report: pictures, residuals, and statements about its bits.
#include "fixture.hpp"
#include "page.hpp"

#include <gtest/gtest.h>

namespace tilewise::report {
namespace {

using nlohmann::json;

/// The section of the field, from the made-up records after `change` was applied to each run.
template <class Change>
std::string field_of(Change change) {
  std::vector<json> records = made_up_records();
  for (json& record : records)
    if (record.contains("course")) change(record);
  const std::string body = body_of(page_of(records));
  const std::size_t begin = body.find("<h2>The diffusing field");
  return begin == body.npos ? "" : body.substr(begin, body.find("</section>", begin) - begin);
}

TEST(ReportField, TheLongestRunIsShownWithItsResiduals) {
  const std::string section = field_of([](json&) {});
  EXPECT_EQ(times_in(section, "<figure><img src=\"data:image/png;base64,iVBORw0KGgo"), 4u) << section;
  EXPECT_EQ(times_in(section, " alt=\"The field at step "), 4u);
  for (const char* part :
       {"<strong>step 100,000</strong><div>time 50,000</div><div>residual 0.00300</div>",
        "Computed by scan/opencl:chunked on opencl:0 of made-up-machine", "<td>0.0000300<",
        ", that of the document’s own serial program.</p>", "<td>as the original<", "is 0.00300 after 100,000 steps",
        "at every step shown, these agree: scan/opencl:chunked on opencl:0, scan/cuda:lookback on"})
    EXPECT_NE(section.find(part), section.npos) << part << section;
  EXPECT_EQ(section.find("too slow"), section.npos) << "of the other run";
  const std::string plain = field_of([](json& record) { record.erase("course"); });
  EXPECT_EQ(plain, "");
}

TEST(ReportField, ARunThatWasCutSaysWhy) {
  const std::string section = field_of([](json& record) {
    if (record["course"]["stopped"].is_null()) record.erase("course");
  });
  EXPECT_NE(section.find("<p>It ends with step 10,000: too slow.</p>"), section.npos) << section;
  EXPECT_NE(section.find("gives the same field.</p>"), section.npos) << "one run has none to compare";
}

TEST(ReportField, OtherBitsAreSaidToBeOthers) {
  const std::string others = field_of([](json& record) {
    if (record["course"]["stopped"].is_null()) record["course"]["moments"][1]["hash"] = std::string(16, '0');
  });
  EXPECT_NE(others.find("<p class=\"wrong\">The bits are NOT equal: "), others.npos) << others;
  EXPECT_EQ(others.find("gives the same field"), others.npos);
  const std::string unpublished =
      field_of([](json& record) { record["course"]["moments"][2]["published_hash"] = std::string(16, '0'); });
  EXPECT_NE(unpublished.find(", NOT 0000000000000000 of the document’s own serial program.</p>"), unpublished.npos)
      << unpublished;
  EXPECT_NE(unpublished.find("<strong class=\"wrong\">NOT as the original</strong>"), unpublished.npos);
  EXPECT_EQ(unpublished.find(", that of the document’s"), unpublished.npos);
}

TEST(ReportField, OfRunsOfOneLengthTheLastRightOneIsShown) {
  for (const char* status : {"ok", "wrong"}) {
    const std::string section = field_of([&](json& record) {
      if (record["case"]["variant"] == "scan/cuda:lookback") record["status"] = status;
      if (json& moments = record["course"]["moments"]; moments.size() > 3) moments.erase(3);
    });
    const bool is_right = status == std::string("ok");
    EXPECT_NE(section.find(is_right ? "Computed by scan/cuda:lookback" : "Computed by scan/opencl:chunked"),
              section.npos);
    EXPECT_EQ(section.find("cuda:lookback") != section.npos, is_right) << "what is wrong agrees with nobody";
  }
}

TEST(ReportField, TheFirstStepIsDrawnAndTheStartIsNot) {
  std::vector<json> records = made_up_records();
  for (json& r : records)
    if (r.contains("course")) r["course"]["moments"][1]["step"] = 1;
  std::size_t drawn = 0;
  for (const json& chart : charts_of(page_of(records)))
    drawn += chart["x"] == "steps" && chart["lines"][0]["points"][0][0] == 1.0;
  EXPECT_EQ(drawn, 1u);
}

TEST(ReportField, HashesOfAnotherFunctionAreNotCompared) {
  const std::string section = field_of([](json& record) {
    if (record["course"]["stopped"].is_null()) return;
    record["course"].erase("hash_function");
    for (json& moment : record["course"]["moments"]) moment["hash"] = std::string(16, '0');
  });
  EXPECT_EQ(section.find("NOT equal"), section.npos) << section;
  EXPECT_NE(section.find("gives the same field.</p>"), section.npos) << "the older run is not said to agree" << section;
}

TEST(ReportField, WhatIsNoHashOrPictureIsLeftOut) {
  for (const char* evil : {"\" onload=\"alert(1)", "AAA", "////\n", "AAAA;base64,AAAA", "A=AA", "0123456789ABCDEF "}) {
    const std::string section = field_of([&](json& record) {
      json& moment = record["course"]["moments"][1];
      moment["picture_png"] = moment["hash"] = moment["published_hash"] = evil;
      moment["residual"] = evil;
    });
    EXPECT_EQ(times_in(section, "<figure><img"), 3u) << evil;
    EXPECT_NE(section.find("<p>no picture</p><figcaption><strong>step 1,000</strong><div>time 500</div>"
                           "<div>residual –</div><div>–</div>"),
              section.npos)
        << section;
  }
  EXPECT_EQ(field_of([](json& record) { record["course"]["moments"] = {1, "x", json::object(), {{"step", -1}}}; }), "");
}

}  // namespace
}  // namespace tilewise::report
