// SPDX-License-Identifier: Apache-2.0
#include "io/host_memory.hpp"

#include "base/control_groups.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace tilewise::io {

namespace {

namespace fs = std::filesystem;

/// The kernel's estimate; the largest number if there is none.
std::uint64_t left_on_machine(const fs::path& root) {
  std::ifstream facts(root / "proc/meminfo");
  std::uint64_t kib = 0;
  for (std::string word; facts >> word; facts.ignore(256, '\n'))
    if (word == "MemAvailable:" && facts >> kib) return kib * 1024;
  return ~std::uint64_t{0};
}

/// What is left of the addresses that `ulimit -v` allows; the largest number without a limit.
std::uint64_t left_to_process(const fs::path& root) {
  rlimit limit{};
  std::uint64_t pages = 0;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ~std::uint64_t{0};
  if (!(std::ifstream(root / "proc/self/statm") >> pages)) return limit.rlim_cur;
  const std::uint64_t used = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::uint64_t>(used, limit.rlim_cur);
}

}  // namespace

std::uint64_t available_host_memory(const fs::path& root) {
  const base::group_memory groups = base::memory_of_groups(root / "proc/self/cgroup", root / "sys/fs/cgroup");
  return std::min({left_on_machine(root), groups.left, left_to_process(root)});
}

void require_host_memory(std::uint64_t bytes, const std::string& what) {
  if (const std::uint64_t limit = available_host_memory(); bytes > limit)
    throw error(errc::out_of_memory,
                what + " of memory, but the host has " + std::to_string(limit) + " left; use a smaller input");
}

}  // namespace tilewise::io
