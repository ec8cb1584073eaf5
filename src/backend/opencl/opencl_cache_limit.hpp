// SPDX-License-Identifier: Apache-2.0
// How large the cache may grow: beyond its limit the least recently used goes, but nothing that may be in use.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace tilewise::backend::opencl {

/// Of our programs, and the same again for what a driver keeps next to them.
inline constexpr std::uint64_t cache_limit = std::uint64_t{64} << 20;

struct cached_item {
  std::string name;
  std::uint64_t bytes;
  std::time_t used;
};

/// What has to go for the rest to fit the limit, the longest unused first. What was used after `recent` stays,
/// however much that is.
std::vector<cached_item> surplus(std::vector<cached_item> all, std::uint64_t limit, std::time_t recent);

/// Removes programs from an open cache folder, and what ended processes left of them. Those of the last hour stay: a
/// repeated run of many programs would otherwise find none of them.
void limit_programs(int directory, std::uint64_t limit = cache_limit);

/// The same for PoCL's own folder. A program's objects stay for a day after its last use: PoCL reads them while it
/// runs, and does not say when.
void limit_driver_objects(const std::string& folder, std::uint64_t limit = cache_limit);

}  // namespace tilewise::backend::opencl
