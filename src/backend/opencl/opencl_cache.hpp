// SPDX-License-Identifier: Apache-2.0
// Built programs on disk: in a directory that only we can write to, each entry with its key and a checksum.
#pragma once

#include "backend/opencl/opencl_cache_folder.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::backend::opencl {

/// XXH3-128 over the fields and their lengths, as 32 hex digits.
std::string cache_key(std::span<const std::string_view> fields);

/// The directory is $XDG_CACHE_HOME/tilewise, else ~/.cache/tilewise, else what TILEWISE_CACHE names; "off" is none.
/// It is created with mode 0700, unless a missing one is to stay missing. One that is a symbolic link, belongs to
/// somebody else or has another mode is neither used nor repaired: then every program is built anew. No function here
/// throws; a cache that fails is no cache. The least recently used entries make room as opencl_cache_limit.hpp says.
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

}  // namespace tilewise::backend::opencl
