// SPDX-License-Identifier: Apache-2.0
// What `tune` tells of the tunings of one problem.
#pragma once

#include "lab/tune/race.hpp"
#include "registry/tuned.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace tilewise::cli {

struct tuning_outcome {
  const lab::tuning_case* what;
  std::optional<registry::tuned> found;     // none where nothing could be measured, or there is nothing to choose
  std::optional<lab::race_result> raced{};  // none where it was kept before
};

/// Of the tunings that were left behind, the fastest few unless `all` are wanted.
std::string tuning_block(const tuning_outcome& told, bool all);
nlohmann::ordered_json to_json(const tuning_outcome& told);

}  // namespace tilewise::cli
