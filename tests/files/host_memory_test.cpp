// SPDX-License-Identifier: Apache-2.0
// How much memory the machine, the control groups and the process's own limit leave.
#include "io/host_memory.hpp"
#include "scratch_folder.hpp"

#include <tilewise/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace tilewise::tests {
namespace {

constexpr std::uint64_t kib = 1024;

class HostMemory : public testing::Test {
 protected:
  HostMemory() {
    system_.write("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable: 4000 kB\nBuffers: 7 kB");
    system_.write("proc/self/cgroup", "0::/job");
    write_group("max", "0");
  }
  void write_group(const std::string& most, const std::string& used) const {
    system_.write("sys/fs/cgroup/job/memory.max", most);
    system_.write("sys/fs/cgroup/job/memory.current", used);
  }
  std::uint64_t available() const { return io::available_host_memory(system_.path()); }

  const scratch_folder system_;
};

TEST_F(HostMemory, OfTheMachineIsWhatCanBeHad) { EXPECT_EQ(available(), 4000 * kib); }

TEST_F(HostMemory, OfAGroupIsWhatItsProcessesLeave) {
  write_group(std::to_string(3000 * kib), std::to_string(2900 * kib));
  EXPECT_EQ(available(), 100 * kib);
}

TEST_F(HostMemory, OfAddressesIsWhatTheProcessHasNotUsed) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlim_t beyond_all_use = rlim_t{1} << 50;  // also of a sanitizer's shadow
  const rlimit limit{std::min(before.rlim_cur, beyond_all_use), before.rlim_max};
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  system_.write("proc/self/statm", std::to_string(limit.rlim_cur / page - 3) + " 1 1 1 0 1 0");
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const std::uint64_t found = available();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(found, 3 * page + limit.rlim_cur % page);
}

/// The message when this many bytes are refused.
std::string refusal_of(std::uint64_t bytes) {
  try {
    io::require_host_memory(bytes, "x.npy needs much");
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory);
    return e.what();
  }
  return "it was taken";
}

const std::string before_the_number = "x.npy needs much of memory, but the host has ";

TEST_F(HostMemory, WhatIsNotLeftIsRefusedWithBothNumbers) {
  const std::string said = refusal_of(~std::uint64_t{0} - 1);
  EXPECT_TRUE(said.starts_with(before_the_number)) << said;
}

TEST_F(HostMemory, IsAskedForEachTime) {
  constexpr std::uint64_t room = 256 << 20;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  io::require_host_memory(1, "x.npy needs little");
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t with_room = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + room;
  const rlimit limit{std::min(before.rlim_cur, with_room), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const std::string said = refusal_of(room + 1);
  setrlimit(RLIMIT_AS, &before);
  ASSERT_TRUE(said.starts_with(before_the_number)) << said;
  EXPECT_LE(std::stoull(said.substr(before_the_number.size())), room);
}

}  // namespace
}  // namespace tilewise::tests
