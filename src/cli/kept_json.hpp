// SPDX-License-Identifier: Apache-2.0
// JSON in the private cache folder, beside the kernels that OpenCL compiled.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace tilewise::cli {

struct kept_json {
  std::optional<std::string> text;
  bool is_damaged = false;  // it is there, and cannot be trusted
};

/// A name for what these words tell apart.
std::string kept_key(std::initializer_list<std::string_view> words);

/// What was kept by that name; nothing in a build without OpenCL, which has no such folder.
kept_json find_kept(const std::string& key);

/// Where there is a private folder to keep it in.
void keep(const std::string& key, const nlohmann::json& told);

}  // namespace tilewise::cli
