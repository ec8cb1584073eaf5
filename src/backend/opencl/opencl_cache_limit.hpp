// How large the cache grows: beyond its limit goes what was used longest ago, but nothing that somebody may be using.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace tilewise::backend::opencl {

/// Of our programs, and again of what a driver keeps beside them.
inline constexpr std::uint64_t cache_limit = std::uint64_t{64} << 20;

struct cached_item {
  std::string name;
  std::uint64_t bytes;
  std::time_t used;
};

/// What has to go so that the rest fits the limit, the longest unused first. What was used after `recent` stays,
/// however much that is.
std::vector<cached_item> surplus(std::vector<cached_item> all, std::uint64_t limit, std::time_t recent);

/// Removes programs of an open cache folder, and what ended processes left of them. Those of the last hour stay: a run
/// of many programs that is repeated would else find none of them.
void limit_programs(int directory, std::uint64_t limit = cache_limit);

/// The same of PoCL's own folder. A program's objects stay for a day after its last use: PoCL reads them while it runs,
/// and does not say so.
void limit_driver_objects(const std::string& folder, std::uint64_t limit = cache_limit);

}  // namespace tilewise::backend::opencl
