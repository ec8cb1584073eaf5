// SPDX-License-Identifier: Apache-2.0
// A cache on disk that lasts between runs. Its folder is writable only by this user; each entry has its key and a
// checksum.
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

/// The bytes that our entries may take. A driver's files next to them may take the same again.
inline constexpr std::uint64_t cache_limit = std::uint64_t{64} << 20;

struct cached_item {
  std::string name;
  std::uint64_t bytes;
  std::time_t used;
};

/// The items to remove, least recently used first, so that the rest fits the limit. Items used after `recent` stay,
/// even if they exceed it.
std::vector<cached_item> surplus(std::vector<cached_item> all, std::uint64_t limit, std::time_t recent);

/// Removes old entries from an open cache folder, and incomplete ones of processes that have ended. Entries used in the
/// last hour stay: otherwise repeated runs with more programs than fit would never find one.
void limit_entries(int directory, std::uint64_t limit = cache_limit);

/// A key for the fields: XXH3-128 over them and their lengths, as 32 hexadecimal digits.
std::string cache_key(std::initializer_list<std::string_view> fields);

/// The entries of the cache folder (cache_folder.hpp). If the folder is missing, it is created with mode 0700, or stays
/// missing if `if_missing` says so. A folder that is a symbolic link, belongs to somebody else or has another mode is
/// not used: then nothing is stored. No function throws; after a failure the cache just finds nothing. If it is full,
/// the least recently used entries are removed.
class disk_cache {
 public:
  explicit disk_cache(missing_folder if_missing = missing_folder::is_created);
  ~disk_cache();
  disk_cache(const disk_cache&) = delete;

  bool usable() const { return directory_ >= 0; }

  /// The bytes stored under the key; nothing if the entry is missing, damaged or another user's.
  std::optional<std::vector<unsigned char>> find(const std::string& key) const;
  /// Whether there is an entry with this key, even one that find() refuses.
  bool has_entry(const std::string& key) const;

  /// Writes a temporary file and renames it, so that parallel processes see only complete entries.
  void store(const std::string& key, std::span<const unsigned char> bytes) const;

 private:
  int directory_ = -1;
};

}  // namespace tilewise::base
