// SPDX-License-Identifier: Apache-2.0
#include "lab/machine/environment.hpp"

#include "base/number.hpp"
#include "lab/commit.gen.hpp"
#include "lab/machine/system_files.hpp"

#include <tilewise/version.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include <sys/utsname.h>
#include <unistd.h>

extern char** environ;

namespace tilewise::lab {

namespace {

constexpr int order_version = 1;  // of docs/order.md; a new version means other bits

// Unknown facts, reported as 0, are left out.
record::maybe_count known(std::uint64_t size) { return size == 0 ? record::maybe_count() : size; }
record::maybe_text known(const std::string& text) { return text.empty() ? record::maybe_text() : text; }

struct cpu_counts {
  std::set<std::string> sockets, cores;
};

cpu_counts count_cpus(const system_files& system) {
  const std::string all = "/sys/devices/system/cpu";
  cpu_counts counts;
  for (const std::string& cpu : system.numbered(all, "cpu")) {
    const std::string topology = all + "/" + cpu + "/topology/";
    const std::string socket = system.first_line(topology + "physical_package_id");
    if (socket.empty()) continue;
    counts.sockets.insert(socket);
    counts.cores.insert(socket + "/" + system.first_line(topology + "core_id"));
  }
  return counts;
}

/// Smallest first.
std::vector<record::cache> caches_of_first_cpu(const system_files& system) {
  const std::string all = "/sys/devices/system/cpu/cpu0/cache";
  std::vector<record::cache> caches;
  for (const std::string& index : system.numbered(all, "index")) {
    const std::string cache = all + "/" + index + "/", size = system.first_line(cache + "size");
    if (size.empty() || system.first_line(cache + "type") == "Instruction") continue;
    const std::uint64_t unit = size.back() == 'K' ? 1024 : size.back() == 'M' ? 1024 * 1024 : 1;
    caches.push_back({system.number_in(cache + "level"), std::strtoull(size.c_str(), nullptr, 10) * unit});
  }
  std::sort(caches.begin(), caches.end(), [](const record::cache& a, const record::cache& b) {
    return std::tie(a.bytes, a.level) < std::tie(b.bytes, b.level);
  });
  return caches;
}

/// The limit of the control group that this process sees as its root, in version 2 or else 1; 0 if there is none.
std::uint64_t group_memory_limit(const system_files& system) {
  std::uint64_t limit = system.number_in("/sys/fs/cgroup/memory.max");
  if (limit == 0) limit = system.number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  return limit >= std::uint64_t{1} << 60 ? 0 : limit;  // version 1 writes "no limit" as a huge number
}

std::map<std::string, std::string> runtime_variables() {
  constexpr std::array<const char*, 9> prefixes{"OMP_", "GOMP_",    "KMP_",  "TBB_",   "CUDA_",
                                                "OCL_", "TILEWISE", "POCL_", "OPENCL_"};
  std::map<std::string, std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    for (const char* prefix : prefixes)
      if (text.starts_with(prefix)) found[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  return found;
}

record::maybe_number load_average() {
  double load[1];
  return getloadavg(load, 1) == 1 ? record::maybe_number(load[0]) : std::nullopt;
}

}  // namespace

record::tool tool_facts() {
  return {.version = TILEWISE_VERSION,
          .commit = known(TILEWISE_COMMIT),
          .dirty = TILEWISE_DIRTY,
          .compiler = TILEWISE_COMPILER,
          .flags = TILEWISE_FLAGS,
          .build_type = TILEWISE_BUILD_TYPE,
          .order_version = order_version};
}

record::host host_facts() {
  utsname kernel{};
  uname(&kernel);
  const system_files system;
  const cpu_counts cpus = count_cpus(system);
  return {.hostname = kernel.nodename,
          .os = known(system.value_of("/etc/os-release", "PRETTY_NAME", '=')),
          .kernel = std::string(kernel.sysname) + " " + kernel.release,
          .cpu_model = known(system.value_of("/proc/cpuinfo", "model name", ':')),
          .sockets = known(cpus.sockets.size()),
          .cores = known(cpus.cores.size()),
          .threads = known(std::thread::hardware_concurrency()),
          .caches = caches_of_first_cpu(system),
          .ram_bytes =
              static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE)),
          .cgroup_mem_bytes = known(group_memory_limit(system)),
          .governor = known(system.first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
          .load_avg_1m = load_average(),
          .virtualised = is_virtual(system),
          .env = runtime_variables()};
}

record::device device_facts(const device_info& info) {
  const auto told = [](std::uint64_t size) { return size == 0 ? record::added<record::count>() : size; };
  return {.name = info.name,
          .backend = info.backend,
          .description = info.description,
          .platform = known(info.platform),
          .driver = known(info.driver),
          .api_version = known(info.api_version),
          .compute_units = known(info.compute_units),
          .max_clock_mhz = known(info.max_clock_mhz),
          .memory_bytes = known(info.memory),
          .cache_bytes = known(info.cache),
          .local_memory_bytes = known(info.local_memory),
          .is_cpu = info.is_cpu,
          .max_group_size = told(info.max_group_size),
          .group_multiple = told(info.group_multiple)};
}

bool is_release_build() {
  const std::string_view type = TILEWISE_BUILD_TYPE;
  return type == "Release" || type == "RelWithDebInfo";
}

namespace {

std::string fresh_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += base::hex_digits(random(), 8);
  return id;
}

/// "2026-11-21T01:20:00Z"
std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

void session::sign(record::result& r) const {
  r.id = fresh_id();
  r.time_utc = utc_now();
  r.argv = argv;
  r.tool = tool;
  r.host = host;
}

session describe_session(std::vector<std::string> argv) { return {std::move(argv), tool_facts(), host_facts()}; }

}  // namespace tilewise::lab
