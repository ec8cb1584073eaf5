#include "io/host_memory.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <fstream>
#include <limits>

namespace tilewise::io {

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// The number after a key at the start of a line, or of the first line where the key is empty.
std::uint64_t number_in(const char* path, const std::string& key, std::uint64_t otherwise) {
  std::ifstream facts(path);
  for (std::string word; facts >> word; facts.ignore(256, '\n')) {
    if (!key.empty() && word != key) continue;
    if (!key.empty()) facts >> word;
    return word.find_first_not_of("0123456789") == word.npos ? std::stoull(word) : otherwise;
  }
  return otherwise;
}

/// Within a container the group's limit is at the root of what it sees. Its file pages can be freed.
std::uint64_t left_in_group(const char* limit, const char* usage, const char* facts, const std::string& file_pages) {
  const std::uint64_t most = number_in(limit, "", no_limit);
  if (most == no_limit) return no_limit;
  const std::uint64_t used = number_in(usage, "", 0);
  return most - std::min(most, used - std::min(used, number_in(facts, file_pages, 0)));
}

}  // namespace

std::uint64_t available_host_memory() {
  const std::uint64_t kib = number_in("/proc/meminfo", "MemAvailable:", no_limit / 1024);
  return std::min(
      {kib * 1024,
       left_in_group("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat",
                     "file"),
       left_in_group("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                     "/sys/fs/cgroup/memory/memory.stat", "total_cache")});
}

void require_host_memory(std::uint64_t bytes, const std::string& what) {
  if (const std::uint64_t limit = available_host_memory(); bytes > limit)
    throw error(errc::out_of_memory,
                what + " of memory, but the host has " + std::to_string(limit) + " left; use a smaller input");
}

}  // namespace tilewise::io
