// SPDX-License-Identifier: Apache-2.0
// What `doctor` finds on made-up machines: nothing on a quiet one, and each fault after it was planted.
#include "lab/machine/health.hpp"
#include "scratch_folder.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace tilewise::lab {
namespace {

namespace fs = std::filesystem;

/// A quiet machine with four processors, as Linux shows it. Half a second passes at once.
class Health : public testing::Test {
 protected:
  Health() {
    write("proc/loadavg", "0.40 0.20 0.10 1/200 4711");
    write("proc/cpuinfo", "processor : 0\nmodel name : Made Up\nflags : fpu vme sse2");
    write("proc/meminfo", "MemTotal:  16777216 kB\nSwapTotal: 1048576 kB\nSwapFree:  1048576 kB");
    write("proc/self/cgroup", "0::/");
    write("proc/stat", "cpu  1000 0 1000 8000 0 0 0 0 0 0");
    write_process("100", "sleeper", 5, 5);
    for (int cpu = 0; cpu < 4; ++cpu) {
      const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
      write(folder + "cpufreq/scaling_governor", "performance");
      write(folder + "thermal_throttle/core_throttle_count", "0");
      write(folder + "thermal_throttle/package_throttle_count", "0");
    }
    write("sys/devices/system/cpu/intel_pstate/no_turbo", "1");
    write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
    write("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm");
    write("sys/devices/system/node/node0/cpulist", "0-3");
    write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
    write("sys/fs/cgroup/cpu.max", "max 100000");
    write("sys/fs/cgroup/memory.max", "max");
  }

  void write(const fs::path& file, const std::string& text) const { scratch_.write(file, text); }
  void write_process(const std::string& id, const std::string& name, int user, int kernel) {
    write("proc/" + id + "/stat", id + " (" + name + ") S 1 1 1 0 -1 4194304 1 2 3 4 " + std::to_string(user) + " " +
                                      std::to_string(kernel) + " 0 0 20 0 1 0 100");
  }

  std::vector<finding> found(const std::function<void()>& meanwhile = [] {}) const {
    return examine(system_files(root_), [&] {
      meanwhile();
      return 0.5;
    });
  }
  /// Checks that this is the only finding.
  void expect_only(
      const std::string& check, severity how, const std::string& part,
      const std::function<void()>& meanwhile = [] {}) const {
    const std::vector<finding> all = found(meanwhile);
    ASSERT_EQ(all.size(), 1u) << check;
    EXPECT_EQ(all.front().check, check);
    EXPECT_EQ(all.front().how, how);
    EXPECT_NE(all.front().what.find(part), std::string::npos) << all.front().what;
    EXPECT_FALSE(all.front().advice.empty());
  }

  const tests::scratch_folder scratch_;
  const fs::path root_ = scratch_.path();
};

TEST_F(Health, AQuietMachineHasNothing) {
  for (const finding& f : found()) ADD_FAILURE() << f.check << ": " << f.what;
}

TEST_F(Health, AMachineThatSaysNothingHasNothing) {
  fs::remove_all(root_ / "proc");
  fs::remove_all(root_ / "sys");
  EXPECT_TRUE(found().empty());
}

TEST_F(Health, AnotherGovernor) {
  write("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave");
  expect_only("governor", severity::harms, "1 of 4 processors is 'powersave'");
}

TEST_F(Health, ALoadOfAQuarterOfTheProcessors) {
  write("proc/loadavg", "1.00 0 0 1/200 4711");
  EXPECT_TRUE(found().empty());
  write("proc/loadavg", "1.25 0 0 1/200 4711");
  expect_only("load", severity::harms, "1.25 on 4 processors");
  fs::remove_all(root_ / "sys/devices/system/cpu/cpu3");
  write("proc/loadavg", "0.80 0 0 1/200 4711");
  expect_only("load", severity::harms, "0.80 on 3 processors");
  fs::remove_all(root_ / "sys/devices/system/cpu/cpu2");
  write("proc/loadavg", "0.30 0 0 1/200 4711");
  EXPECT_TRUE(found().empty()) << "less than half a processor";
}

TEST_F(Health, ProcessesAtWork) {
  const auto work = [&](int ticks) { return [this, ticks] { write_process("100", "a) (b", 5 + ticks, 5); }; };
  write_process("100", "a) (b", 5, 5);
  const int second = static_cast<int>(sysconf(_SC_CLK_TCK));
  expect_only("processes", severity::harms, "1 other process is at work: a) (b (100) with 80% of a processor",
              work(second * 2 / 5));
  EXPECT_TRUE(found(work(second * 2 / 5 + 1)).empty()) << "one tick is nothing";
  write_process("100", "a) (b", 5, 5);
  expect_only("processes", severity::harms, "with 6% of a processor", work(second * 3 / 100));
  write_process("100", "a) (b", 5, 5);
  EXPECT_TRUE(found(work(second / 50)).empty()) << "4% are less than a twentieth";
  write_process("100", "a) (b", 5, 5);
  expect_only("processes", severity::harms, "with 80% of a processor",
              [&] { write_process("100", "a) (b", 5, 5 + second * 2 / 5); });  // in the kernel alone
  write_process("100", "a\n) b", 5, 5);
  expect_only("processes", severity::harms, "a\\x0a) b (100) with 80% of a processor",
              [&] { write_process("100", "a\n) b", 5, 5 + second * 2 / 5); });  // a name of two lines
  write_process("100", "idle", 5, 5);
  EXPECT_TRUE(found([&] { write_process("101", "new", 1000, 0); }).empty()) << "when it did that is not known";
}

TEST_F(Health, TimeThatTheHostGaveAway) {
  expect_only("stolen_time", severity::harms, "gave 5% of",
              [&] { write("proc/stat", "cpu  1050 0 1000 8045 0 0 0 5"); });
}

TEST_F(Health, ASlowerClockForHeat) {
  for (const std::string of : {"core", "package"}) {
    const std::string count = "sys/devices/system/cpu/cpu1/thermal_throttle/" + of + "_throttle_count";
    write(count, "12");
    expect_only("throttling", severity::may_harm, "12 times");
    write(count, "0");
  }
}

TEST_F(Health, AClockThatIsReadSlowly) {
  const std::string folder = "sys/devices/system/clocksource/clocksource0/";
  write(folder + "current_clocksource", "hpet");
  expect_only("clock_source", severity::may_harm, "'hpet'");
  ASSERT_EQ(found().size(), 1u);
  EXPECT_NE(found().front().advice.find("echo tsc"), std::string::npos);
  write(folder + "available_clocksource", "hpet acpi_pm");
  EXPECT_EQ(found().front().advice.find("echo tsc"), std::string::npos);
}

/// On x86, ARM, POWER and RISC-V, and if the system does not report it.
TEST_F(Health, AClockThatAProcessorReadsByItself) {
  for (const char* const quick : {"tsc", "arch_sys_counter", "timebase", "riscv_clocksource", ""}) {
    write("sys/devices/system/clocksource/clocksource0/current_clocksource", quick);
    EXPECT_TRUE(found().empty()) << quick;
  }
}

TEST_F(Health, AVirtualMachine) {
  write("proc/cpuinfo", "flags : fpu vme hypervisor sse2");
  expect_only("virtual_machine", severity::note, "virtual machine");
}

TEST_F(Health, SeveralNodesOfMemory) {
  write("sys/devices/system/node/node1/cpulist", "");
  expect_only("numa", severity::may_harm, "2 NUMA nodes");
}

TEST_F(Health, MemoryThatIsSwappedOut) {
  write("proc/meminfo", "MemTotal:  16777216 kB\nSwapTotal: 1048576 kB\nSwapFree:  946176 kB");
  expect_only("swap", severity::may_harm, "100 MiB");
}

TEST_F(Health, AQuotaOfProcessors) {
  write("sys/fs/cgroup/cpu.max", "150000 100000");
  expect_only("cpu_quota", severity::harms, "1.50 of 4 processors");
  write("sys/fs/cgroup/cpu.max", "400000 100000");
  EXPECT_TRUE(found().empty()) << "as many as there are";
  write("proc/self/cgroup", "0::/user/job");
  write("sys/fs/cgroup/user/cpu.max", "200000 100000");
  write("sys/fs/cgroup/user/job/cpu.max", "350000 100000");
  expect_only("cpu_quota", severity::harms, "2.00 of 4 processors");
  write("proc/self/cgroup", "3:cpu,cpuacct:/");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_TRUE(found().empty());
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000");
  expect_only("cpu_quota", severity::harms, "0.50 of 4 processors");
}

TEST_F(Health, ALimitOfMemory) {
  write("sys/fs/cgroup/memory.max", "1073741824");
  expect_only("memory_limit", severity::note, "1024 MiB of the machine's 16384 MiB");
}

TEST_F(Health, HugePagesTurnedOff) {
  write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  expect_only("huge_pages", severity::may_harm, "turned off");
}

TEST_F(Health, Turbo) {
  write("sys/devices/system/cpu/intel_pstate/no_turbo", "0");
  expect_only("turbo", severity::note, "turbo is on");
  fs::remove_all(root_ / "sys/devices/system/cpu/intel_pstate");
  write("sys/devices/system/cpu/cpufreq/boost", "1");
  expect_only("turbo", severity::note, "turbo is on");
}

TEST_F(Health, AnNvidiaDriverThatCannotBeOpened) {
  write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module");
  expect_only("nvidia", severity::may_harm, "No such file");
  fs::create_directories(root_ / "dev/nvidiactl");  // fails even for root
  expect_only("nvidia", severity::may_harm, "cannot be opened");
  fs::remove(root_ / "dev/nvidiactl");
  write("dev/nvidiactl", "");
  EXPECT_TRUE(found().empty());
}

TEST_F(Health, TheWorstComesFirst) {
  write("proc/cpuinfo", "flags : hypervisor fpu hypervisor");
  write("sys/devices/system/node/node1/cpulist", "");
  write("proc/loadavg", "4.00 0 0 1/200 4711");
  const std::vector<finding> all = found();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const finding& a, const finding& b) { return a.how < b.how; }));
}

}  // namespace
}  // namespace tilewise::lab
