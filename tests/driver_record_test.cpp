// SPDX-License-Identifier: Apache-2.0
// What was found about OpenCL drivers is believed for a day. cli_drivers_test.py changes what else it depends on.
#include "cli/driver_record.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace tilewise::cli {
namespace {

TEST(DriverRecord, IsBelievedForADay) {
  std::string folder = testing::TempDir() + "tilewise-record-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  setenv("TILEWISE_CACHE", (folder + "/cache").c_str(), 1);
  const std::vector<std::filesystem::path> icds{folder + "/one.icd"}, others{folder + "/another.icd"};
  std::ofstream(icds[0]) << "/nowhere/driver.so\n";
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
  unsetenv("TILEWISE_CACHE");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tilewise::cli
