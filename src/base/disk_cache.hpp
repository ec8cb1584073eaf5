// SPDX-License-Identifier: Apache-2.0
// What is kept between runs: in a folder that only we can write to, each entry with its key and a checksum.
#pragma once

#include "base/cache_folder.hpp"

#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// XXH3-128 over the fields and their lengths, as 32 hex digits.
std::string cache_key(std::initializer_list<std::string_view> fields);

/// Entries of the cache folder (cache_folder.hpp), which is created with mode 0700, unless a missing one is to stay
/// missing. One that is a symbolic link, belongs to somebody else or has another mode is neither used nor repaired:
/// then nothing is kept. No function here throws; a cache that fails is no cache. The least recently used entries make
/// room.
class disk_cache {
 public:
  explicit disk_cache(missing_folder if_missing = missing_folder::is_created);
  ~disk_cache();
  disk_cache(const disk_cache&) = delete;

  bool usable() const { return directory_ >= 0; }

  /// What was stored under the key; nothing if the entry is missing, damaged or another user's.
  std::optional<std::vector<unsigned char>> find(const std::string& key) const;
  /// Whether there is an entry of that name, be it one that find() refuses.
  bool has_entry(const std::string& key) const;

  /// Written to a separate file and renamed, so that parallel processes see only whole entries.
  void store(const std::string& key, std::span<const unsigned char> bytes) const;

 private:
  int directory_ = -1;
};

}  // namespace tilewise::base
