// SPDX-License-Identifier: Apache-2.0
// Whole jobs on the page: a chart of where their time goes, with its numbers in a table, apart from kernels.
#include "page.hpp"
#include "report/format.hpp"

#include <gtest/gtest.h>

namespace tilewise::report {
namespace {

using nlohmann::json;

std::vector<json> with_jobs() {
  std::vector<json> records = made_up_records();
  for (json& job : made_up_jobs()) records.push_back(std::move(job));
  return records;
}

json stack_of_times(const std::string& page) {
  for (const json& chart : charts_of(page))
    if (chart["kind"] == "stack" && chart["unit"] == "time") return chart;
  return nullptr;
}

const json& job_of(const std::vector<json>& records, const std::string& variant) {
  return *std::find_if(records.begin(), records.end(), [&](const json& r) {
    return r["case"]["mode"] == "file_to_file" && r["case"]["variant"] == variant && r["case"]["n"] == 67108865;
  });
}

TEST(ReportJobs, EachVariantHasABarOfItsPartsAtTheLargestSize) {
  const std::vector<json> records = with_jobs();
  const json chart = stack_of_times(page_of(records));
  ASSERT_FALSE(chart.is_null());
  const json& labels = chart["labels"];
  EXPECT_EQ(labels.size(), 10u) << labels;
  EXPECT_EQ(labels.front(), "cuda:lookback on cuda:0") << "the fastest first";
  EXPECT_EQ(labels.back(), "serial");
  const json phases = job_of(records, "scan/cuda:lookback")["timing"]["phases"];
  ASSERT_EQ(chart["parts"].size(), 5u);
  const char* const keys[] = {"read", "upload", "kernel", "download", "write"};
  const char* const names[] = {"read", "copy in", "kernel", "copy out", "write"};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(chart["parts"][i]["label"], names[i]);
    EXPECT_EQ(chart["parts"][i]["values"].front(), phases[keys[i]]) << keys[i];
  }
}

TEST(ReportJobs, TheLargestPartIsSaidAndAllAreInATable) {
  const std::string body = body_of(page_of(with_jobs()));
  ASSERT_EQ(times_in(body, "Where the time of a whole job goes"), 1u);
  const std::string section = body.substr(body.find("Where the time of a whole job goes"));
  EXPECT_NE(section.find(" of the same files moved alone; its"), std::string::npos) << "no device's copy bounds a job";
  EXPECT_NE(section.find("its largest part is ‘write’ with " + duration(4 * 67108865.0 * 0.3)), std::string::npos)
      << section.substr(0, 2000);
  const std::size_t serial = section.find("<th>serial<");
  const std::string line = row_from(section, serial);
  EXPECT_EQ(times_in(line, "<td>–<"), 2u) << "no copies" << line;
  EXPECT_NE(line.find("<td>" + duration(4 * 67108865.0 * 0.2) + "<"), std::string::npos) << line;
}

TEST(ReportJobs, AJobsTimeIsThatFromEndToEndAndAPartsShareIsOfAllParts) {
  std::vector<json> jobs = made_up_jobs();
  for (json& job : jobs) {
    json& whole = job["timing"]["end_to_end"];
    whole["median_ns"] = 5e6, whole["ci95_lo_ns"] = 4.99e6, whole["ci95_hi_ns"] = 5.01e6;
    job["timing"]["phases"] = {{"read", 1e6}, {"kernel", 6e6}, {"write", 1e6}};
  }
  const std::string body = body_of(page_of(jobs));
  EXPECT_NE(body.find(", takes 5.00 ms"), std::string::npos);
  EXPECT_NE(body.find("its largest part is ‘kernel’ with 6.00 ms, 75 % of all parts."), std::string::npos);
}

TEST(ReportJobs, TheyStandApartFromKernels) {
  const std::vector<json> records = made_up_records(), all = with_jobs();
  const model m = make_model(typed(all)), kernels = make_model(typed(records));
  EXPECT_EQ(m.panels.size(), kernels.panels.size() + 1);
  EXPECT_EQ(m.panels.front().serial()->at(1048576)->kernel->median,
            kernels.panels.front().serial()->at(1048576)->kernel->median);
  EXPECT_EQ(markdown(m).substr(markdown(m).find('|')), markdown(kernels).substr(markdown(kernels).find('|')));
  const std::string body = body_of(page_of(all));
  EXPECT_NE(body.find(", from file to file</h3>"), std::string::npos) << "open, not folded";
  EXPECT_EQ(times_in(matrix_of(body), "<tr>"), times_in(matrix_of(body_of(page_of(records))), "<tr>"))
      << "kernels alone stand in the matrix";
  const std::vector<json> jobs = made_up_jobs();
  EXPECT_NE(matrix_of(body_of(page_of(jobs))).find("whole jobs"), std::string::npos);
}

TEST(ReportJobs, OneInDoubtIsTheLastAndSaysSo) {
  std::vector<json> records = with_jobs();
  for (json& r : records)
    if (r["case"]["mode"] == "file_to_file" && r["case"]["variant"] == "scan/cuda:lookback")
      r["timing"]["end_to_end"]["ci95_hi_ns"] = nullptr;
  const json labels = stack_of_times(page_of(records))["labels"];
  EXPECT_EQ(labels.back(), "cuda:lookback on cuda:0 (in doubt)") << labels;
}

TEST(ReportJobs, OfThoseInDoubtNoneIsTheFastest) {
  std::vector<json> jobs = made_up_jobs();
  for (json& job : jobs)
    job["timing"]["end_to_end"]["ci95_hi_ns"] = job["timing"]["end_to_end"]["median_ns"].get<double>() * 1.12;
  const std::string body = body_of(page_of(jobs));
  EXPECT_NE(body.find("No job’s time can be trusted."), std::string::npos);
  EXPECT_EQ(body.find("the fastest job"), std::string::npos);
}

TEST(ReportJobs, PartsThatAreNoTimesAreNotDrawn) {
  std::vector<json> jobs = made_up_jobs();
  for (json& job : jobs)
    job["timing"]["phases"] = {{"read", -1}, {"write", nullptr}, {"kernel", "long"}, {"upload", 0}};
  const std::string page = page_of(jobs);
  EXPECT_EQ(stack_of_times(page)["parts"].size(), 0u);
  EXPECT_EQ(page.find("its largest part"), std::string::npos);
  EXPECT_EQ(body_of(page).find("-1.00 ns"), std::string::npos);
}

}  // namespace
}  // namespace tilewise::report
