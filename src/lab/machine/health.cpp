// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/health.hpp"

#include "base/control_groups.hpp"
#include "base/printable.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

namespace tilewise::lab {

namespace {

using possible_finding = std::optional<finding>;

constexpr const char* cpus = "/sys/devices/system/cpu";

std::size_t count_processors(const system_files& system) { return system.numbered(cpus, "cpu").size(); }

std::string percent(double share) { return std::to_string(static_cast<int>(share * 100 + 0.5)) + "%"; }

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// The value of a line such as "SwapFree:  1024 kB", in bytes.
std::uint64_t memory_fact(const system_files& system, const std::string& key) {
  return std::strtoull(system.value_of("/proc/meminfo", key + ":", ':').c_str(), nullptr, 10) * 1024;
}

possible_finding governor(const system_files& system) {
  std::size_t slow = 0;
  std::string other;
  for (const std::string& cpu : system.numbered(cpus, "cpu")) {
    const std::string word = system.first_line(cpus + ("/" + cpu) + "/cpufreq/scaling_governor");
    if (word.empty() || word == "performance") continue;
    ++slow;
    other = word;
  }
  if (slow == 0) return std::nullopt;
  return finding{severity::harms, "governor",
                 "the governor of " + std::to_string(slow) + " of " + std::to_string(count_processors(system)) +
                     " processors is '" + other + "': their clocks follow the load",
                 "`sudo cpupower frequency-set -g performance`, from Debian's linux-cpupower"};
}

possible_finding recent_load(const system_files& system) {
  const double average = std::strtod(system.first_line("/proc/loadavg").c_str(), nullptr);
  const double processors = static_cast<double>(count_processors(system));
  if (average <= processors / 4) return std::nullopt;  // the report's limit for a busy machine
  return finding{severity::harms, "load",
                 "the load of the last minute was " + std::to_string(average).substr(0, 4) + " on " +
                     std::to_string(count_processors(system)) + " processors",
                 "end other programs and wait a minute; a benchmark that has just ended counts too"};
}

possible_finding throttling(const system_files& system) {
  std::uint64_t most = 0;
  for (const std::string& cpu : system.numbered(cpus, "cpu"))
    for (const char* count : {"/thermal_throttle/core_throttle_count", "/thermal_throttle/package_throttle_count"})
      most = std::max(most, system.number_in(cpus + ("/" + cpu) + count));
  if (most == 0) return std::nullopt;
  return finding{severity::may_harm, "throttling",
                 "heat has slowed the clock down " + std::to_string(most) + " times since the machine started",
                 "cool it better, or turn turbo off: `sudo turbostat` shows the clocks while bench runs"};
}

possible_finding clock_source(const system_files& system) {
  const std::string folder = "/sys/devices/system/clocksource/clocksource0/";
  const std::string current = system.first_line(folder + "current_clocksource");
  // Clocks that a processor reads by itself, on x86, ARM, POWER and RISC-V.
  for (const char* quick : {"", "tsc", "arch_sys_counter", "timebase", "riscv_clocksource"})
    if (current == quick) return std::nullopt;
  const bool has_tsc = system.first_line(folder + "available_clocksource").find("tsc") != std::string::npos;
  return finding{severity::may_harm, "clock_source",
                 "the clock source is '" + current + "': reading the time takes longer, and short samples are blurred",
                 has_tsc
                     ? "`echo tsc | sudo tee " + folder + "current_clocksource`"
                     : "trust samples of less than 100 µs less; the system does not trust the processor's own clock"};
}

possible_finding virtual_machine(const system_files& system) {
  if (!is_virtual(system)) return std::nullopt;
  return finding{severity::note, "virtual_machine",
                 "this is a virtual machine: what its neighbours do, the load here does not show",
                 "measure twice, at different times, and see with `tilewise compare` what differs"};
}

possible_finding numa(const system_files& system) {
  const std::size_t nodes = system.numbered("/sys/devices/system/node", "node").size();
  if (nodes < 2) return std::nullopt;
  return finding{
      severity::may_harm, "numa",
      "memory lies on " + std::to_string(nodes) + " NUMA nodes: times depend on where an array happens to be",
      "`numactl --cpunodebind=0 --membind=0 tilewise bench ...` keeps a run on one of them"};
}

possible_finding swapped_memory(const system_files& system) {
  const std::uint64_t all = memory_fact(system, "SwapTotal"), unused = memory_fact(system, "SwapFree");
  if (all <= unused) return std::nullopt;
  return finding{severity::may_harm, "swap", mebibytes(all - unused) + " of memory are swapped out",
                 "end what needs the memory, then `sudo swapoff -a && sudo swapon -a`"};
}

/// The quota of a control group in processors; 0 if there is none.
double quota_of(const base::control_group& group) {
  if (group.is_version_2) {  // "150000 100000", or "max 100000"
    std::istringstream both(first_line_of(group.folder / "cpu.max"));
    double quota = 0, period = 0;
    return both >> quota >> period && period > 0 ? quota / period : 0;
  }
  const double quota = std::strtod(first_line_of(group.folder / "cpu.cfs_quota_us").c_str(), nullptr);  // -1: no quota
  const double period = std::strtod(first_line_of(group.folder / "cpu.cfs_period_us").c_str(), nullptr);
  return quota > 0 && period > 0 ? quota / period : 0;
}

/// The smallest quota of all enclosing groups.
double processor_quota(const system_files& system) {
  double least = 0;
  for (const auto& group : base::control_groups("cpu", system.path("/proc/self/cgroup"), system.path("/sys/fs/cgroup")))
    if (const double one = quota_of(group); one > 0) least = least == 0 ? one : std::min(least, one);
  return least;
}

possible_finding tight_quota(const system_files& system) {
  const double processors = processor_quota(system);
  if (processors == 0 || processors >= static_cast<double>(count_processors(system))) return std::nullopt;
  const std::string number = std::to_string(processors).substr(0, 4);
  return finding{severity::harms, "cpu_quota",
                 "a control group gives this process the time of " + number + " of " +
                     std::to_string(count_processors(system)) + " processors, and stops it when that is used up",
                 "raise the container's limit of CPUs, or measure with at most so many --threads"};
}

possible_finding memory_limit(const system_files& system) {
  const std::uint64_t most =
      base::memory_of_groups(system.path("/proc/self/cgroup"), system.path("/sys/fs/cgroup")).most;
  const std::uint64_t all = memory_fact(system, "MemTotal");
  if (most >= all) return std::nullopt;
  return finding{severity::note, "memory_limit",
                 "a control group limits memory to " + mebibytes(most) + " of the machine's " + mebibytes(all),
                 "raise the container's limit if large problems are refused"};
}

possible_finding huge_pages(const system_files& system) {
  const std::string file = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (system.first_line(file).find("[never]") == std::string::npos) return std::nullopt;
  return finding{severity::may_harm, "huge_pages",
                 "huge pages are turned off: large arrays fault and miss in the TLB at every 4 KiB",
                 "`echo madvise | sudo tee " + file + "`"};
}

possible_finding turbo(const system_files& system) {
  const std::string intel = std::string(cpus) + "/intel_pstate/no_turbo", others = std::string(cpus) + "/cpufreq/boost";
  const bool by_intel = system.first_line(intel) == "0";
  if (!by_intel && system.first_line(others) != "1") return std::nullopt;
  return finding{
      severity::note, "turbo", "turbo is on: the clock depends on heat and on how many processors work",
      "to compare small changes: `echo " + (by_intel ? "1 | sudo tee " + intel : "0 | sudo tee " + others) + "`"};
}

possible_finding nvidia(const system_files& system) {
  if (system.first_line("/proc/driver/nvidia/version").empty()) return std::nullopt;
  const std::string name = "/dev/nvidiactl";
  if (const int file = ::open(system.path(name).c_str(), O_RDWR | O_CLOEXEC); file >= 0) {
    close(file);
    return std::nullopt;
  }
  return finding{severity::may_harm, "nvidia",
                 "the NVIDIA driver is loaded, but " + name + " cannot be opened: " + std::strerror(errno),
                 "join the group that owns it, or start the container with `--gpus all`"};
}

/// What each process has used so far, in ticks of the clock; `stolen` and `all` are sums over all processors.
struct processor_time {
  struct process {
    std::string name;
    std::uint64_t used = 0;
  };
  std::map<std::string, process> of_process;
  std::uint64_t stolen = 0, all = 0;
};

/// Parses "<pid> (<name>) <state> ..."; the name may contain any characters, even a line break.
processor_time::process process_in(const std::filesystem::path& stat) {
  std::string all;
  std::getline(std::ifstream(stat), all, '\0');
  const auto begin = all.find('('), end = all.rfind(')');
  if (begin == all.npos || end == all.npos || end < begin) return {};
  std::istringstream fields(all.substr(end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::uint64_t user = 0, kernel = 0;
  fields >> user >> kernel;
  return {base::printable(all.substr(begin + 1, end - begin - 1)), user + kernel};
}

processor_time look_at_processes(const system_files& system) {
  processor_time now;
  for (const std::string& id : system.numbered("/proc", ""))
    if (id != std::to_string(getpid())) now.of_process[id] = process_in(system.path("/proc/" + id + "/stat"));
  std::istringstream fields(system.first_line("/proc/stat"));  // cpu user nice system idle iowait irq softirq steal
  std::string skipped;
  fields >> skipped;
  for (int field = 0; field < 8 && fields; ++field) {
    std::uint64_t ticks = 0;
    fields >> ticks;
    now.all += ticks;
    if (field == 7) now.stolen = ticks;
  }
  return now;
}

/// Reports processes that use at least a twentieth of a processor, and names the three busiest.
possible_finding busy_processes(const processor_time& before, const processor_time& after, double seconds) {
  std::vector<std::pair<double, std::string>> busy;
  const double ticks = seconds * static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const auto& [id, now] : after.of_process) {
    const auto earlier = before.of_process.find(id);
    if (earlier == before.of_process.end() || now.used <= earlier->second.used) continue;
    const double share = static_cast<double>(now.used - earlier->second.used) / ticks;
    if (share >= 0.05) busy.emplace_back(share, now.name + " (" + id + ")");
  }
  if (busy.empty()) return std::nullopt;
  std::sort(busy.rbegin(), busy.rend());
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, busy.size()); ++i)
    names += (i == 0 ? "" : ", ") + busy[i].second + " with " + percent(busy[i].first) + " of a processor";
  return finding{severity::harms, "processes",
                 std::to_string(busy.size()) + (busy.size() == 1 ? " other process is" : " other processes are") +
                     " at work: " + names,
                 "end them, or wait until they have ended"};
}

possible_finding stolen_time(const processor_time& before, const processor_time& after) {
  if (after.all <= before.all || after.stolen <= before.stolen) return std::nullopt;
  const double share = static_cast<double>(after.stolen - before.stolen) / static_cast<double>(after.all - before.all);
  if (share < 0.01) return std::nullopt;
  return finding{severity::harms, "stolen_time",
                 "the host gave " + percent(share) + " of this virtual machine's time to others",
                 "measure when it is quieter, or on processors of your own"};
}

}  // namespace

std::vector<finding> examine(const system_files& system, const std::function<double()>& wait) {
  std::vector<finding> found;
  const auto add = [&](possible_finding one) {
    if (one) found.push_back(std::move(*one));
  };
  const processor_time before = look_at_processes(system);
  const double seconds = wait();
  const processor_time after = look_at_processes(system);
  add(busy_processes(before, after, seconds));
  add(stolen_time(before, after));
  for (const auto check : {recent_load, governor, tight_quota, throttling, clock_source, numa, swapped_memory,
                           huge_pages, nvidia, virtual_machine, memory_limit, turbo})
    add(check(system));
  std::stable_sort(found.begin(), found.end(), [](const finding& a, const finding& b) { return a.how < b.how; });
  return found;
}

}  // namespace tilewise::lab
