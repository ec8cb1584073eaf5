// SPDX-License-Identifier: Apache-2.0
// JSON in the private cache folder (base/disk_cache.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace tilewise::cli {

struct kept_json {
  std::optional<std::string> text;
  bool is_damaged = false;  // it is there, and cannot be trusted
};

/// What was kept by that key.
kept_json find_kept(const std::string& key);

/// Where there is a private folder to keep it in.
void keep(const std::string& key, const nlohmann::json& told);

}  // namespace tilewise::cli
