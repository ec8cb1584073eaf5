// SPDX-License-Identifier: Apache-2.0
// Reports on matrices of several sizes: squares on one axis, other shapes separately, and a ladder up to the
// multiply-adds.
#include "fixture.hpp"
#include "page.hpp"
#include "report/findings.hpp"
#include "report/report.hpp"
#include "report/roofline/roofline.hpp"

#include <gtest/gtest.h>

namespace tilewise::report {
namespace {

using nlohmann::json;

/// A made-up record turned into one of a matrix product that does this many operations per nanosecond.
json product(const std::string& variant, const std::vector<std::uint64_t>& shape, double gflops, bool own = false) {
  static const json pattern = made_up_records().front();
  json r = pattern;
  const std::string algorithm = variant.substr(0, variant.find('/'));
  const double operations = 2.0 * static_cast<double>(shape[0] * shape[1] * shape[2]);
  std::string text;
  for (const std::uint64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  r["id"] = variant + text;
  r["device"]["name"] = "cuda:0";
  r["device"]["backend"] = "cuda";
  r["case"]["group"] = "matmul.f32 n=" + text + " @cuda:0";
  r["case"]["algorithm"] = algorithm;
  r["case"]["variant"] = variant;
  r["case"]["backend"] = "cuda";
  r["case"]["dtype"] = "f32";
  r["case"]["settings"] = json::object();
  r["case"]["shape"] = shape;
  r["case"]["n"] = shape[0];
  r["case"]["operations"] = operations;
  r["case"]["bytes_min"] = operations / gflops;  // at 1 GB/s
  r["case"]["order"] = own ? "own" : "tilewise";
  r["case"]["peer"] = false;
  r["verify"]["digest"] = r["verify"]["reference_digest"] = text;
  for (const char* field : {"median_ns", "ci95_lo_ns", "ci95_hi_ns"})
    r["timing"]["kernel"][field] = operations / gflops;
  r["derived"] = {{"elements_per_s", nullptr},
                  {"bytes_per_s", 1e9},
                  {"operations_per_s", gflops * 1e9},
                  {"ceiling", "fma"},
                  {"ceiling_bytes_per_s", nullptr},
                  {"ceiling_operations_per_s", 60e12},
                  {"fraction_of_ceiling", gflops / 60e3},
                  {"plausible", true}};
  r["ratios"] = json::array();
  return r;
}

std::vector<json> products() {
  std::vector<json> all;
  for (const std::uint64_t n : {512, 1024, 2048}) {
    all.push_back(product("matmul/cuda:tf32", {n, n, n}, 66e3, true));
    all.push_back(product("matmul/cuda:register_tiles", {n, n, n}, 50e3));
    all.push_back(product("matmul/cuda:simple", {n, n, n}, 5e3));
    all.push_back(product("matmul/cuda:blocked16", {n, n, n}, 10e3));
    all.push_back(product("fma/cuda", {n, n, n}, 60e3));
  }
  all.push_back(product("matmul/cuda:register_tiles", {2048, 16, 512}, 20e3));
  all.push_back(product("fma/cuda", {2048, 16, 512}, 60e3));
  return all;
}

TEST(ReportMatrices, OtherShapesThanSquaresHavePanelsOfTheirOwn) {
  const std::vector<json> records = products();
  const model m = make_model(typed(records));
  ASSERT_EQ(m.panels.size(), 2u);
  EXPECT_EQ(m.panels[0].title, "matmul f32");
  EXPECT_EQ(m.panels[0].sizes(), (std::set<std::uint64_t>{512, 1024, 2048}));
  EXPECT_EQ(m.panels[0].size_at(1024), "1024x1024x1024");
  EXPECT_EQ(m.panels[1].title, "matmul f32, 2048x16x512");
  EXPECT_EQ(m.panels[1].size_at(2048), "2048x16x512");
  EXPECT_EQ(m.panels[0].boards.front().all.size(), 5u);
}

TEST(ReportMatrices, SpeedIsInOperationsAndTheLadderEndsAtTheMultiplyAdds) {
  const std::vector<json> records = products();
  const model m = make_model(typed(records));
  const board& gpu = m.panels[0].boards.front();
  EXPECT_EQ(gpu.unit(), speed_unit::operations);
  const std::string page = page_of(records), matrix = matrix_of(body_of(page));
  EXPECT_NE(matrix.find("<div>arithmetic-bound, 83 % of fma</div>"), std::string::npos)
      << "ours of another order, such as with TF32, competes with nobody" << matrix;
  const std::string ladder = page.substr(page.find("The ladder"));
  std::size_t at = 0;
  for (const char* rung : {"cuda:simple<", "cuda:blocked16<", "cuda:register_tiles<", "fma<", "cuda:tf32<"}) {
    const std::size_t next = ladder.find(rung, at);
    ASSERT_NE(next, std::string::npos) << rung << " does not follow the slower ones";
    at = next;
  }
  EXPECT_NE(page.find("50.0 TFLOP/s"), std::string::npos);
  EXPECT_NE(page.find("cuda:register_tiles, 83 % of the device’s multiply-adds."), std::string::npos);
  EXPECT_NE(charts_of(page).dump().find("n, each of the sizes"), std::string::npos);
}

TEST(ReportMatrices, PeersCompeteUnlessTheyRoundTheirOperands) {
  const auto with_peers = [](double gflops_of_tf32, double error_of_tf32) {
    std::vector<json> records = products();
    const auto add_peer = [&](const char* variant, double gflops, double error) {
      records.push_back(product(variant, {2048, 2048, 2048}, gflops, true));
      records.back()["case"]["peer"] = true;
      records.back()["verify"]["max_relative_error"] = error;
    };
    add_peer("matmul/cuda:cublas", 55e3, 4e-6);
    add_peer("matmul/cuda:cublas_tf32", gflops_of_tf32, error_of_tf32);
    return records;
  };
  const auto has_remark = [](const std::vector<json>& records) {
    for (const json& chart : charts_of(page_of(records)))
      for (const json& bar : chart.value("bars", json::array()))
        if (bar["label"] == "cuda:cublas_tf32 (peer)")
          return bar["note"].get<std::string>().ends_with("rounds its operands");
    return false;
  };
  const auto best = [](const std::vector<json>& records, role kind) {
    return make_model(typed(records)).panels[0].boards.front().fastest_of_all(kind, 2048)->label;
  };
  EXPECT_EQ(best(with_peers(200e3, 0), role::peer), "cuda:cublas (peer)") << "no multiply-adds are so fast";
  EXPECT_EQ(best(with_peers(70e3, 2.4e-4), role::peer), "cuda:cublas (peer)") << "nor so far off";
  EXPECT_EQ(best(with_peers(70e3, 4e-6), role::peer), "cuda:cublas_tf32 (peer)");
  EXPECT_EQ(best(with_peers(200e3, 0), role::tilewise), "cuda:register_tiles");
  EXPECT_NE(page_of(with_peers(70e3, 2.4e-4)).find("not compared: it rounds its operands"), std::string::npos);
  EXPECT_TRUE(has_remark(with_peers(70e3, 2.4e-4)));
  EXPECT_FALSE(has_remark(with_peers(70e3, 4e-6)));
  EXPECT_EQ(page_of(with_peers(70e3, 4e-6)).find("not compared: it rounds its operands"), std::string::npos);
}

TEST(ReportMatrices, APeerThatIsAheadByRoundingItsOperandsIsNotPassedOver) {
  const auto body_with = [](double gflops) {
    std::vector<json> records = products();
    for (const auto& [variant, speed, error] :
         {std::tuple("matmul/cuda:cublas", 40e3, 4e-6), std::tuple("matmul/cuda:cublas_tf32", gflops, 2.4e-4)}) {
      records.push_back(product(variant, {2048, 2048, 2048}, speed, true));
      records.back()["case"]["peer"] = true;
      records.back()["verify"]["max_relative_error"] = error;
    }
    return body_of(page_of(records));
  };
  const std::string faster = body_with(80e3), slower = body_with(45e3);
  EXPECT_NE(faster.find("Ahead of ours by rounding its operands: matmul (0.625 × cuda:cublas_tf32) on cuda:0."),
            std::string::npos);
  EXPECT_NE(matrix_of(faster).find("<small>0.625 × cuda:cublas_tf32, which rounds its operands</small>"),
            std::string::npos);
  EXPECT_EQ(slower.find("by rounding its operands:"), std::string::npos);
  EXPECT_EQ(matrix_of(slower).find("rounds its operands"), std::string::npos);
}

TEST(ReportMatrices, ALadderSaysWhatItsFastestIsTheFastestOf) {
  std::vector<json> records = products();
  const char* const with_exception = "The fastest of ours that rounds no operands is cuda:register_tiles";
  EXPECT_EQ(page_of(records).find(with_exception), std::string::npos) << "no variant is off by so much";
  for (json& r : records)
    if (r["case"]["variant"] == "matmul/cuda:tf32") r["verify"]["max_relative_error"] = 2.4e-4;
  EXPECT_NE(page_of(records).find(with_exception), std::string::npos);
  std::erase_if(records, [](const json& r) { return r["case"]["variant"] == "matmul/cuda:tf32"; });
  EXPECT_NE(page_of(records).find("The fastest of ours is cuda:register_tiles"), std::string::npos);
}

TEST(ReportMatrices, ALaunchTakesNoLongerThanAKernelOfWhichTheTimeCanBeTrusted) {
  std::vector<json> records = products();
  std::erase_if(records, [](const json& r) { return r["case"]["shape"][1] == 16; });
  records.push_back(product("launch/cuda", {512, 512, 512}, 40e3));
  const auto launch_ns = [&] { return *rooflines(make_model(typed(records))).front().roofs.launch_ns; };
  const double launch = records.back()["timing"]["kernel"]["median_ns"], shortest = 2.0 * 512 * 512 * 512 / 66e3;
  EXPECT_DOUBLE_EQ(launch_ns(), shortest);
  EXPECT_EQ(page_of(records).find("it takes less than the launch"), std::string::npos);
  for (json& r : records)
    if (r["case"]["group"] == "matmul.f32 n=512x512x512 @cuda:0" && r["case"]["algorithm"] != "launch") widen(r);
  EXPECT_DOUBLE_EQ(launch_ns(), launch) << "what is in doubt shows nothing, and the others take longer";
}

TEST(ReportMatrices, TheTableNamesShapesAndUnits) {
  const std::string text = markdown(make_model(typed(products())));
  for (const char* part : {"operations/time | of multiply-adds", "| 2048x16x512 |", "| 1024x1024x1024 |", "TFLOP/s"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

TEST(ReportMatrices, ShapesWithOneFirstSizeAreNoContradiction) {
  std::vector<json> records = products();
  EXPECT_FALSE(any_wrong(make_model(typed(records)))) << "2048x2048x2048 and 2048x16x512 have digests of their own";
  records[1]["verify"]["digest"] = "0";
  EXPECT_TRUE(any_wrong(make_model(typed(records))));
}

}  // namespace
}  // namespace tilewise::report
