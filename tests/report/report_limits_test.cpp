// SPDX-License-Identifier: Apache-2.0
// However many records there are, and whatever they share, the page keeps its size limits and says what it leaves out.
#include "page.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace tilewise::report {
namespace {

constexpr std::size_t most_bytes = 8'000'000;  // of a page

record::result ordinary() { return typed({made_up_records().front()}).front(); }

/// The page of `count` records, each changed by its number.
std::string page_of_many(std::size_t count, const std::function<void(record::result&, std::size_t)>& change) {
  const scratch where;
  row_table rows;
  const record::result from = ordinary();
  for (std::size_t i = 0; i < count; ++i) {
    record::result r = from;
    change(r, i);
    rows.add(r);
  }
  write_html(make_model(std::move(rows)), where.folder / "page.html");
  return contents(where.folder / "page.html");
}

void set_size(record::result& r, std::uint64_t n) {
  r.what.n = n;
  r.what.shape = {n};
  r.what.group = "n=" + std::to_string(n);
}

std::string numbered(const char* name, std::size_t i) { return name + std::to_string(i); }

void expect_within_limits(const std::string& page, const char* told) {
  EXPECT_LT(page.size(), most_bytes);
  EXPECT_NE(body_of(page).find(told), std::string::npos) << told;
}

TEST(ReportLimits, Sizes) {
  const std::string page = page_of_many(100'000, [](record::result& r, std::size_t i) { set_size(r, i + 1); });
  expect_within_limits(page, "97,500 results are in no table of this page");
  EXPECT_NE(page.find("<th>100,000<"), std::string::npos) << "the largest are shown";
}

TEST(ReportLimits, Series) {
  const std::string page = page_of_many(20'000, [](record::result& r, std::size_t i) {
    set_size(r, i / 200 + 1);
    r.what.variant = numbered("scan/cpu:v", i % 200);
    r.what.backend = "cpu";
  });
  expect_within_limits(page, "results are in no table");
}

TEST(ReportLimits, Devices) {
  const std::string page = page_of_many(20'000, [](record::result& r, std::size_t i) {
    set_size(r, i / 100 + 1);
    r.device.name = numbered("opencl:", i % 100);
    r.device.backend = "opencl";
    r.what.variant = "scan/opencl:chunked";
  });
  expect_within_limits(page, "results are in no table");
}

TEST(ReportLimits, MachinesProblemsAndDevicesThatDifferInEachRecord) {
  expect_within_limits(
      page_of_many(20'000, [](record::result& r, std::size_t i) { r.host.hostname = numbered("host", i); }),
      "19,950 results are in no table");
  expect_within_limits(page_of_many(40'000,
                                    [](record::result& r, std::size_t i) {
                                      set_size(r, i / 500 + 1);
                                      r.what.settings["op"] = numbered("op", i % 500);
                                      r.what.group += numbered(" op", i % 500);
                                    }),
                       "more problems are left out");
  expect_within_limits(page_of_many(20'000,
                                    [](record::result& r, std::size_t i) {
                                      r.device.name = numbered("opencl:", i);
                                      r.device.backend = "opencl";
                                    }),
                       "more rows are left out");
}

TEST(ReportLimits, FailuresWarningsAndCommands) {
  expect_within_limits(page_of_many(20'000,
                                    [](record::result& r, std::size_t i) {
                                      r.state = record::status::failed;
                                      r.reason =
                                          numbered("a fault that takes many words to describe: its number is ", i);
                                      set_size(r, i + 1);
                                    }),
                       "more items are left out");
  expect_within_limits(page_of_many(20'000,
                                    [](record::result& r, std::size_t i) {
                                      r.state = record::status::wrong;
                                      r.reason = "the first difference is where nobody would have looked for it";
                                      set_size(r, i + 1);
                                    }),
                       "more items are left out");
  expect_within_limits(page_of_many(20'000,
                                    [](record::result& r, std::size_t i) {
                                      r.argv = {"tilewise", "bench", "-o", numbered("records", i)};
                                    }),
                       "more commands are left out");
}

TEST(ReportLimits, RatiosDocumentsAndFields) {
  const record::ratio same{"scan/cpu:std", "cpu", "", 1.0, 0.9, 1.1};
  expect_within_limits(page_of_many(2'000,
                                    [&](record::result& r, std::size_t i) {
                                      r.what.variant = "scan/cpu";
                                      r.what.backend = "cpu";
                                      set_size(r, i + 1);
                                      r.ratios.assign(10, same);
                                    }),
                       "more rows are left out");
  expect_within_limits(page_of_many(20'000,
                                    [](record::result& r, std::size_t i) {
                                      r.experiment.emplace().document = "a document";
                                      set_size(r, i + 1);
                                    }),
                       "more problems are left out");
  const std::string picture(400'000, 'A');
  expect_within_limits(
      page_of_many(20,
                   [&](record::result& r, std::size_t i) {
                     r.host.hostname = numbered("host", i);
                     r.course.emplace().moments.assign(12, {i, 1.0, 1.0, std::string(16, '0'), {}, picture});
                   }),
      "no room for its picture");
}

TEST(ReportLimits, LongTexts) {
  std::vector<nlohmann::json> records = hostile_records(std::string(40'000, 'x'));
  const std::string page = page_of(records);
  expect_within_limits(page, "bytes more)");
  EXPECT_EQ(page.find(std::string(page_limits::sentence + 1, 'x')), std::string::npos) << "none is there as a whole";
}

}  // namespace
}  // namespace tilewise::report
