// SPDX-License-Identifier: Apache-2.0
// Findings about OpenCL drivers are used for a day. cli_drivers_test.py changes everything else that they depend on.
#include "tool/drivers/record.hpp"

#include "cache_fixture.hpp"

namespace tilewise::cli {
namespace {

using DriverRecord = tests::cache_fixture;

TEST_F(DriverRecord, IsBelievedForADay) {
  const std::vector<std::filesystem::path> icds{scratch_.path() / "one.icd"}, others{scratch_.path() / "another.icd"};
  scratch_.write("one.icd", "/nowhere/driver.so");
  EXPECT_FALSE(recorded_findings(icds));
  record_findings(icds, {{{"one.icd", "hangs"}}, icds});
  const std::time_t now = std::time(nullptr), day = 24 * 60 * 60;
  const auto found = recorded_findings(icds, now + day - 60);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->faulty.size(), 1u);
  EXPECT_EQ(found->faulty[0].file + " " + found->faulty[0].what, "one.icd hangs");
  EXPECT_EQ(found->wanted, icds);
  EXPECT_FALSE(recorded_findings(icds, now + day + 60));
  EXPECT_FALSE(recorded_findings(icds, now - 60)) << "a clock that went back";
  EXPECT_FALSE(recorded_findings(others));
}

}  // namespace
}  // namespace tilewise::cli
