// SPDX-License-Identifier: Apache-2.0
// How large a cache may grow: beyond its limit the least recently used goes, but nothing that may be in use.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace tilewise::base {

/// Of our entries, and the same again for what a driver keeps next to them.
inline constexpr std::uint64_t cache_limit = std::uint64_t{64} << 20;

struct cached_item {
  std::string name;
  std::uint64_t bytes;
  std::time_t used;
};

/// What has to go for the rest to fit the limit, the longest unused first. What was used after `recent` stays,
/// however much that is.
std::vector<cached_item> surplus(std::vector<cached_item> all, std::uint64_t limit, std::time_t recent);

/// Removes entries from an open cache folder, and what ended processes left of them. Those of the last hour stay: a
/// repeated run of many programs would otherwise find none of them.
void limit_entries(int directory, std::uint64_t limit = cache_limit);

}  // namespace tilewise::base
