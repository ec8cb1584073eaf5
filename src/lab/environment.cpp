#include "lab/environment.hpp"

#include "lab/commit.gen.hpp"

#include <tilewise/version.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include <sys/utsname.h>
#include <unistd.h>

extern char** environ;

namespace tilewise::lab {

namespace {

using nlohmann::json;

constexpr int order_version = 1;  // of docs/order.md: a new one means other bits

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

json size_or_null(std::uint64_t bytes) { return bytes == 0 ? json() : json(bytes); }

/// "KEY : value" and "KEY=value" files; the first value of the key.
std::string value_of(const char* file, const std::string& key, char separator) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const auto at = line.find(separator);
    if (at == line.npos) continue;
    const auto begin = line.find_first_not_of(" \t\"", at + 1);
    return begin == line.npos ? "" : line.substr(begin, line.find_last_not_of(" \t\"") - begin + 1);
  }
  return "";
}

struct cpu_counts {
  std::set<std::string> sockets, cores;
};

cpu_counts count_cpus() {
  cpu_counts counts;
  const std::filesystem::path root = "/sys/devices/system/cpu";
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(root, missing)) {
    const std::string socket = first_line(entry.path() / "topology/physical_package_id");
    if (socket.empty()) continue;
    counts.sockets.insert(socket);
    counts.cores.insert(socket + "/" + first_line(entry.path() / "topology/core_id"));
  }
  return counts;
}

json caches_of_first_cpu() {
  json caches = json::array();
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/cpu/cpu0/cache", missing)) {
    const std::string size = first_line(entry.path() / "size");
    if (size.empty() || first_line(entry.path() / "type") == "Instruction") continue;
    const std::uint64_t unit = size.back() == 'K' ? 1024 : size.back() == 'M' ? 1024 * 1024 : 1;
    caches.push_back({{"level", std::atoi(first_line(entry.path() / "level").c_str())},
                      {"bytes", std::strtoull(size.c_str(), nullptr, 10) * unit}});
  }
  std::sort(caches.begin(), caches.end());
  return caches;
}

std::uint64_t number_in(const std::filesystem::path& file) {
  return std::strtoull(first_line(file).c_str(), nullptr, 10);  // "max" and a missing file give 0
}

/// Of the control group that this process sees as its root: version 2, else version 1. 0: none.
std::uint64_t group_memory_limit() {
  std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit == 0) limit = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  return limit >= std::uint64_t{1} << 60 ? 0 : limit;  // version 1 writes "no limit" as a huge number
}

json runtime_variables() {
  constexpr std::array<const char*, 9> prefixes{"OMP_", "GOMP_",    "KMP_",  "TBB_",   "CUDA_",
                                                "OCL_", "TILEWISE", "POCL_", "OPENCL_"};
  json found = json::object();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    for (const char* prefix : prefixes)
      if (text.starts_with(prefix)) found[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  return found;
}

json load_average() {
  double load[1];
  return getloadavg(load, 1) == 1 ? json(load[0]) : json();
}

}  // namespace

json text_or_null(const std::string& text) { return text.empty() ? json() : json(text); }

json tool_facts() {
  return {{"version", TILEWISE_VERSION},   {"commit", text_or_null(TILEWISE_COMMIT)},
          {"dirty", TILEWISE_DIRTY},       {"compiler", TILEWISE_COMPILER},
          {"flags", TILEWISE_FLAGS},       {"build_type", TILEWISE_BUILD_TYPE},
          {"order_version", order_version}};
}

json host_facts() {
  utsname kernel{};
  uname(&kernel);
  const cpu_counts cpus = count_cpus();
  return {{"hostname", kernel.nodename},
          {"os", text_or_null(value_of("/etc/os-release", "PRETTY_NAME", '='))},
          {"kernel", std::string(kernel.sysname) + " " + kernel.release},
          {"cpu_model", text_or_null(value_of("/proc/cpuinfo", "model name", ':'))},
          {"sockets", size_or_null(cpus.sockets.size())},
          {"cores", size_or_null(cpus.cores.size())},
          {"threads", std::thread::hardware_concurrency()},
          {"caches", caches_of_first_cpu()},
          {"ram_bytes",
           static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE))},
          {"cgroup_mem_bytes", size_or_null(group_memory_limit())},
          {"governor", text_or_null(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))},
          {"load_avg_1m", load_average()},
          {"virtualised", value_of("/proc/cpuinfo", "flags", ':').find(" hypervisor") != std::string::npos},
          {"env", runtime_variables()}};
}

json device_facts(const device_info& info) {
  return {{"name", info.name},
          {"backend", info.backend},
          {"description", info.description},
          {"platform", text_or_null(info.platform)},
          {"driver", text_or_null(info.driver)},
          {"api_version", text_or_null(info.api_version)},
          {"compute_units", size_or_null(info.compute_units)},
          {"max_clock_mhz", size_or_null(info.max_clock_mhz)},
          {"memory_bytes", size_or_null(info.memory)},
          {"cache_bytes", size_or_null(info.cache)},
          {"local_memory_bytes", size_or_null(info.local_memory)},
          {"is_cpu", info.is_cpu}};
}

bool is_release_build() {
  const std::string_view type = TILEWISE_BUILD_TYPE;
  return type == "Release" || type == "RelWithDebInfo";
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace tilewise::lab
