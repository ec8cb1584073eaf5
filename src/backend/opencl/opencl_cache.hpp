// Built programs on disk: in a directory that nobody but us can write to, each entry with its key and a checksum.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::backend::opencl {

/// XXH3-128 over the fields and their lengths, as 32 hex digits.
std::string cache_key(std::span<const std::string_view> fields);

/// The directory is $XDG_CACHE_HOME/tilewise, else ~/.cache/tilewise, else what TILEWISE_CACHE names; "off" is none.
/// It is made with mode 0700. One that is a symbolic link, belongs to somebody else or has another mode is not used
/// and not repaired: then every program is built anew. No function here throws; a cache that fails is no cache. What
/// was used longest ago makes room where opencl_cache_limit.hpp says so.
class disk_cache {
 public:
  disk_cache();
  ~disk_cache();
  disk_cache(const disk_cache&) = delete;

  bool usable() const { return directory_ >= 0; }

  /// What was stored under the key; nothing if the entry is missing, damaged or another user's.
  std::optional<std::vector<unsigned char>> find(const std::string& key) const;

  /// Written to a file of its own and renamed, so that parallel processes see whole entries only.
  void store(const std::string& key, std::span<const unsigned char> bytes) const;

 private:
  int directory_ = -1;
};

}  // namespace tilewise::backend::opencl
