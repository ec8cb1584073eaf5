#include "io/host_memory.hpp"

#include "base/memory_group.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <fstream>

namespace tilewise::io {

namespace {

/// As the kernel estimates it; the largest number where it does not.
std::uint64_t left_on_machine() {
  std::ifstream facts("/proc/meminfo");
  std::uint64_t kib = 0;
  for (std::string word; facts >> word; facts.ignore(256, '\n'))
    if (word == "MemAvailable:" && facts >> kib) return kib * 1024;
  return ~std::uint64_t{0};
}

}  // namespace

std::uint64_t available_host_memory() { return std::min(left_on_machine(), base::memory_of_groups().left); }

void require_host_memory(std::uint64_t bytes, const std::string& what) {
  if (const std::uint64_t limit = available_host_memory(); bytes > limit)
    throw error(errc::out_of_memory,
                what + " of memory, but the host has " + std::to_string(limit) + " left; use a smaller input");
}

}  // namespace tilewise::io
