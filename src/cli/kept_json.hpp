// SPDX-License-Identifier: Apache-2.0
// JSON in the private cache folder, beside the kernels that OpenCL compiled.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tilewise::cli {

struct kept_json {
  std::optional<std::string> text;
  bool is_damaged = false;  // it is there, and cannot be trusted
};

/// What was kept under these words; nothing in a build without OpenCL, which has no such folder.
kept_json find_kept(std::span<const std::string_view> key);

/// Where there is a private folder to keep it in.
void keep(std::span<const std::string_view> key, const nlohmann::json& told);

}  // namespace tilewise::cli
