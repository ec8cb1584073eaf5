// SPDX-License-Identifier: Apache-2.0
// The ranks' shares of an array follow the speed of their devices, with borders where large blocks of the order begin.
#include "backend/group/device.hpp"
#include "base/host.hpp"
#include "helpers.hpp"

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

using backend::group::borders_of_shares;
using backend::group::equal_shares;
using backend::group::shares;
using backend::group::shares_by_speed;
using border_list = std::vector<std::uint64_t>;

TEST(GroupShares, AreInProportionToSpeedAndNeverNothing) {
  EXPECT_EQ(shares_by_speed({5, 5}), (shares{1000, 1000}));
  EXPECT_EQ(shares_by_speed({1e9, 4e9, 2e9}), (shares{250, 1000, 500}));
  EXPECT_EQ(shares_by_speed({1, 1e6}), (shares{1, 1000}));
}

TEST(GroupShares, BordersFollowThem) {
  EXPECT_EQ(borders_of_shares(4 << 20, 4, equal_shares(2)), (border_list{0, 2 << 20, 4 << 20}));
  EXPECT_EQ(borders_of_shares(4 << 20, 4, {3, 1}), (border_list{0, 3 << 20, 4 << 20}));
  EXPECT_EQ(borders_of_shares(4 << 20, 4, {1, 0, 1}), (border_list{0, 2 << 20, 2 << 20, 4 << 20}));
  EXPECT_EQ(borders_of_shares(3, 8, equal_shares(2)), (border_list{0, 0, 3}));
  EXPECT_EQ(borders_of_shares(0, 8, {7, 1}), (border_list{0, 0, 0}));
}

TEST(GroupShares, BordersAreWithinTwoPercentOfTheSmallestShare) {
  for (const std::uint64_t rows : {97u, 1000u, 65'537u, 1'000'003u}) {
    const shares of{1000, 37, 500};
    const border_list border = borders_of_shares(rows * 8, 8, of);
    double before = 0;
    for (unsigned i = 0; i < of.size(); ++i) {
      EXPECT_LE(border[i], border[i + 1]);
      EXPECT_EQ(border[i] % 8, 0u);
      const double smallest = static_cast<double>(rows) * 37 / 1537;
      EXPECT_NEAR(static_cast<double>(border[i]) / 8, static_cast<double>(rows) * before / 1537, 1 + smallest / 50)
          << rows;
      before += static_cast<double>(of[i]);
    }
    EXPECT_EQ(border.back(), rows * 8);
  }
}

TEST(GroupDevices, RanksOfOneDeviceShareWhatItHas) {
  const device_info one = backend::find_device("cpu", {})->info();
  const device_info group = backend::find_device("2*cpu:serial+cpu:threads", {})->info();
  EXPECT_EQ(group.compute_units, one.compute_units);
  EXPECT_EQ(group.memory, one.memory);
}

TEST(GroupShares, OnlyDevicesOfDifferentKindsAreMeasured) {
  const auto parts_on = [](const char* name) {
    const auto on = backend::find_device(name, {});
    const backend::buffer whole(on->queue(), 8 << 20);
    return std::pair{backend::group::part_of(whole, 0).bytes(), backend::group::part_of(whole, 1).bytes()};
  };
  EXPECT_EQ(parts_on("2*cpu:serial"), (std::pair<std::uint64_t, std::uint64_t>{4 << 20, 4 << 20}));
  const auto [first, second] = parts_on("cpu:serial+cpu:threads");
  EXPECT_EQ(first + second, 8u << 20);
  EXPECT_GT(first, 0u);
  EXPECT_GT(second, 0u);
}

TEST(ProcessorShares, ProcessorsAreSharedByTheRanksThatMayRunOnThem) {
  using base::processor_set;
  using base::processors_of;
  const auto each = [](const std::vector<processor_set>& ranks) {
    std::vector<unsigned> threads;
    for (unsigned i = 0; i < ranks.size(); ++i) threads.push_back(processors_of(ranks, i));
    return threads;
  };
  using threads = std::vector<unsigned>;
  EXPECT_EQ(each({0xffff, 0xffff, 0xffff}), (threads{5, 5, 5}));  // not bound
  EXPECT_EQ(each({0x00ff, 0xff00}), (threads{8, 8}));             // each bound to one half
  EXPECT_EQ(each({0b01, 0b10}), (threads{1, 1}));
  EXPECT_EQ(each({0b111, 0b111, 0b111}), (threads{1, 1, 1}));
  EXPECT_EQ(each({0b1, 0b1, 0b1}), (threads{1, 1, 1}));  // three on one processor
  EXPECT_EQ(each({0xf, 0xff}), (threads{2, 6}));
  EXPECT_EQ(each({0, 0}), (threads{1, 1}));  // unknown to the system
  EXPECT_EQ(base::processors_of_all(std::vector<processor_set>{0xf, 0xf0, 0xf}), 8u);
}

}  // namespace
}  // namespace tilewise::tests
