// SPDX-License-Identifier: Apache-2.0
// What `tilewise roofline` prints for made-up devices.
#include "tool/roofline/table.hpp"

#include <gtest/gtest.h>

namespace tilewise::cli {
namespace {

report::roofline reading_at(std::vector<report::memory_level> levels) {
  report::roofline of{"a machine", "made:0", "a device", {}, {}};
  for (const report::memory_level& level : levels)
    for (const double bytes : {level.from, level.to}) of.roofs.readings.push_back({bytes, level.bytes_per_s});
  of.roofs.levels = std::move(levels);
  of.roofs.copies = {{1 << 20, 3e12}};
  return of;
}

TEST(RooflineTable, OnlyWhatLiesBeyondALevelIsBeyond) {
  const double MiB = 1 << 20;
  const std::string one = roofline_block(reading_at({{MiB, 16 * MiB, 8e12}}), false, false);
  EXPECT_NE(one.find("Memory: reads 8.00 TB/s and copies 3.00 TB/s."), std::string::npos) << one;
  const std::string two =
      roofline_block(reading_at({{MiB, 40 * MiB, 8e12}, {99 * MiB, 1024 * MiB, 4e12}}), false, false);
  EXPECT_NE(two.find("reads 8.00 TB/s up to 40.0 MiB, reads 4.00 TB/s beyond and"), std::string::npos) << two;
}

}  // namespace
}  // namespace tilewise::cli
