// SPDX-License-Identifier: Apache-2.0
// What the first screen says about the machine: its caches, which devices are the same, and what was not measured.
#include "page.hpp"

#include <gtest/gtest.h>

namespace tilewise::report {
namespace {

using nlohmann::json;

TEST(ReportMachine, TheMachineIsToldWithItsCachesAndWhichOfItsDevicesAreOne) {
  const std::string body = body_of(page_of(scans_with([](json& r) {
    if (r["device"]["name"] == "opencl:0") r["device"]["description"] = "One GPU";
    if (r["device"]["name"] == "cuda:0") r["device"]["description"] = "One GPU";
    r["time_utc"] = is_time_of(r, "scan/cuda:lookback") ? "2026-11-02T00:00:00Z" : "2026-11-01T00:00:00Z";
  })));
  for (const char* part :
       {"caches of 32.0 MiB; ", "opencl:0 and cuda:0 are One GPU. ", "Measured 2026-11-01 to 2026-11-02 "})
    EXPECT_NE(body.find(part), std::string::npos) << part;
}

TEST(ReportMachine, ACpuThatIsThereAndWasNotMeasuredIsNamed) {
  std::vector<json> records = scans_with([](json&) {});
  const std::string words = "; its CPU was not measured. Measured ";
  EXPECT_EQ(body_of(page_of(records)).find(words), std::string::npos);
  std::erase_if(records, [](const json& r) { return r["device"]["is_cpu"] == true; });
  EXPECT_NE(body_of(page_of(records)).find(words), std::string::npos);
  records.push_back(made_up_records()[5]);
  ASSERT_EQ(records.back()["case"]["variant"], "copy/cpu");
  EXPECT_NE(body_of(page_of(records)).find(words), std::string::npos) << "a copy alone is no measurement of it";
  for (json& r : records) r["host"]["cpu_model"] = nullptr;
  EXPECT_EQ(body_of(page_of(records)).find(words), std::string::npos) << "no record tells of one";
}

TEST(ReportMachine, AnOpenclDeviceThatIsTheCpuIsSaidToBeIt) {
  const std::string body = body_of(page_of(scans_with([](json& r) {
    if (r["device"]["name"] != "opencl:0") return;
    r["device"]["description"] = "pthread-haswell";
    r["device"]["is_cpu"] = true;
  })));
  EXPECT_NE(body.find("opencl:0 is the CPU, as pthread-haswell"), std::string::npos);
}

TEST(ReportMachine, EachHasItsOwnDevicesAndACommandIsToldOnce) {
  std::vector<json> records = scans_with([](json&) {}), others = records;
  std::erase_if(records, [](const json& r) { return r["device"]["name"] == "cuda:0"; });
  for (json& r : others) {
    r["host"]["hostname"] = "another-machine", r["host"]["cores"] = 1, r["argv"] = {"tilewise", "bench", "there"};
    if (r["device"]["name"] != "opencl:0") records.push_back(r);
  }
  const std::string body = body_of(page_of(records));
  EXPECT_NE(body.find(" has 16 cores,"), std::string::npos);
  EXPECT_NE(body.find(" has 1 core,"), std::string::npos);
  EXPECT_EQ(times_in(body, "; opencl:0 is Imaginary GPU 9000"), 1u);
  EXPECT_EQ(times_in(body, "; cuda:0 is Imaginary GPU 9000"), 1u);
  EXPECT_EQ(times_in(body, "tilewise bench there\n"), 1u) << body;
}

TEST(ReportMachine, ADevicesGroupsAndLocalMemoryAreToldWhereKnown) {
  const auto shown = [](bool is_told) {
    return body_of(page_of(scans_with([&](json& r) {
      if (r["device"]["name"] != "cuda:0" || !is_told) return;
      r["device"]["max_group_size"] = 1024, r["device"]["group_multiple"] = 32;
    })));
  };
  EXPECT_EQ(times_in(shown(true), "<td>228 KiB<td>1,024, in multiples of 32<"), 1u) << shown(true);
  EXPECT_EQ(times_in(shown(false), "in multiples of"), 0u);
}

}  // namespace
}  // namespace tilewise::report
