// SPDX-License-Identifier: Apache-2.0
#include "tool/kept_json.hpp"

#include "base/disk_cache.hpp"

#include <nlohmann/json.hpp>

namespace tilewise::cli {

kept_json find_kept(const std::string& key) {
  const base::disk_cache cache;
  const auto kept = cache.find(key);
  if (!kept) return {{}, cache.has_entry(key)};
  return {std::string(kept->begin(), kept->end())};
}

void keep(const std::string& key, const nlohmann::json& told) {
  const std::string text = told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  base::disk_cache().store(key, {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}

}  // namespace tilewise::cli
