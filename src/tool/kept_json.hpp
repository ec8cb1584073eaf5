// SPDX-License-Identifier: Apache-2.0
// Keeps JSON in the private cache folder.
#pragma once

#include "base/disk_cache.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace tilewise::cli {

struct kept_json {
  std::optional<std::string> text;
  bool is_damaged = false;  // it exists but cannot be trusted
};

/// Finds what was kept under this key.
inline kept_json find_kept(const std::string& key) {
  const base::disk_cache cache;
  const auto kept = cache.find(key);
  if (!kept) return {{}, cache.has_entry(key)};
  return {std::string(kept->begin(), kept->end())};
}

/// Keeps a value under this key, if there is a private folder.
inline void keep(const std::string& key, const nlohmann::json& told) {
  const std::string text = told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  base::disk_cache().store(key, {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}

}  // namespace tilewise::cli
