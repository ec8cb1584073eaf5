// SPDX-License-Identifier: Apache-2.0
// How much memory the control groups leave: trees of files as Linux presents them.
#include "base/control_groups.hpp"
#include "scratch_folder.hpp"

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

namespace fs = std::filesystem;

class MemoryGroups : public testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) const { scratch_.write(file, text); }
  void write_group(const std::string& group, const std::string& most, const std::string& used,
                   const std::string& files) {
    write("v2" + group + "/memory.max", most);
    write("v2" + group + "/memory.current", used);
    write("v2" + group + "/memory.stat", "anon 5\nfile " + files + "\nkernel 3");
  }
  base::group_memory of(const std::string& own, const std::string& mounted = "v2") {
    write("own", own);
    return base::memory_of_groups(folder_ / "own", folder_ / mounted);
  }

  const scratch_folder scratch_;
  const fs::path folder_ = scratch_.path();
  const std::uint64_t no_limit = ~std::uint64_t{0};
};

TEST_F(MemoryGroups, TheProcesssOwnLimitCounts) {
  write_group("/user/job", "1000", "700", "100");
  const base::group_memory found = of("0::/user/job");
  EXPECT_EQ(found.most, 1000u);
  EXPECT_EQ(found.left, 400u) << "file pages can be freed";
}

TEST_F(MemoryGroups, TheStrictestUpToTheRootCounts) {
  write_group("/user/job/step", "max", "10", "0");
  write_group("/user/job", "5000", "10", "0");
  write_group("/user", "2000", "1990", "0");
  write_group("", "9000", "0", "0");
  const base::group_memory found = of("0::/user/job/step");
  EXPECT_EQ(found.most, 2000u);
  EXPECT_EQ(found.left, 10u);
}

TEST_F(MemoryGroups, WhatIsLeftIsThatOfTheFullestWhateverItsLimit) {
  write_group("/user/job", "2000", "100", "0");
  write_group("/user", "5000", "4990", "0");
  const base::group_memory found = of("0::/user/job");
  EXPECT_EQ(found.most, 2000u);
  EXPECT_EQ(found.left, 10u);
}

TEST_F(MemoryGroups, WithinAContainerTheRootIsItsOwn) {
  write_group("", "3000", "1000", "0");
  for (const char* own : {"0::/", "0::/docker/0123", "0::/../other"}) EXPECT_EQ(of(own).left, 2000u) << own;
}

TEST_F(MemoryGroups, Version1) {
  write("v1/memory/job/memory.limit_in_bytes", "1000");
  write("v1/memory/job/memory.usage_in_bytes", "900");
  write("v1/memory/job/memory.stat", "cache 1\ntotal_cache 300");
  const base::group_memory found = of("9:name=systemd:/\n4:cpu,memory:/job\n1:cpuset:/job\n0::/", "v1");
  EXPECT_EQ(found.most, 1000u);
  EXPECT_EQ(found.left, 400u);
}

/// Their pages are counted as pages of files, but none of them can be freed.
TEST_F(MemoryGroups, SharedMemoryAndTmpfsAreNotLeft) {
  write_group("/job", "1000", "900", "300\nshmem 200");
  EXPECT_EQ(of("0::/job").left, 200u);
  write_group("/job", "1000", "900", "300\nshmem 400");
  EXPECT_EQ(of("0::/job").left, 100u) << "more of them than file pages";
  write("v1/memory/job/memory.limit_in_bytes", "1000");
  write("v1/memory/job/memory.usage_in_bytes", "900");
  write("v1/memory/job/memory.stat", "cache 1\nshmem 2\ntotal_cache 300\ntotal_shmem 200");
  EXPECT_EQ(of("4:memory:/job", "v1").left, 200u);
}

/// A machine may have some controllers in groups of version 1, and others in groups of version 2.
TEST_F(MemoryGroups, OfBothVersionsAtOnceTheStrictestCounts) {
  const auto write_version_1 = [&](const std::string& most) {
    write("v2/memory/job/memory.limit_in_bytes", most);
    write("v2/memory/job/memory.usage_in_bytes", "10");
  };
  for (const char* own :
       {"4:memory:/job\n0::/job", "0::/job\n4:memory:/job", "3:cpu:/\n4:memory:/job\n5:io:/\n0::/job"}) {
    write_version_1("1000"), write_group("/job", "3000", "10", "0");
    EXPECT_EQ(of(own).most, 1000u) << own;
    write_version_1("3000"), write_group("/job", "1000", "10", "0");
    EXPECT_EQ(of(own).most, 1000u) << own;
    EXPECT_EQ(of(own).left, 990u) << own;
  }
}

TEST_F(MemoryGroups, WhatMakesNoSenseIsNoLimit) {
  write_group("/job", "1000", "100", "900");
  EXPECT_EQ(of("0::/job").left, 1000u) << "more file pages than are used";
  write_group("/job", "1000", "2000", "0");
  EXPECT_EQ(of("0::/job").left, 0u);
  write_group("/job", "much", "100", "0");
  for (const char* own : {"0::/job", "", "::", "nothing", "0:/job", "0::/job/\n\n:"})
    EXPECT_EQ(of(own).left, no_limit) << own;
  EXPECT_EQ(base::memory_of_groups(folder_ / "none", folder_ / "v2").most, no_limit);
}

}  // namespace
}  // namespace tilewise::tests
