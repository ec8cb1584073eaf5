// SPDX-License-Identifier: Apache-2.0
// `tilewise tune ALGORITHM`: races a variant's tunings, keeps what it found and, if asked, applies it.
#pragma once

#include "lab/tune/race.hpp"
#include "registry/tuned.hpp"
#include "tool/commands.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace tilewise::cli {

struct tuning_request {
  device_list_options devices{.names = {"auto"}};
  std::vector<std::string> selectors;
  problem_options problems;
  double max_time_s = 10;
  std::string records;
  bool apply = false, dry_run = false, json = false, verbose = false;
};

exit_code tune_variants(const tuning_request& asked, const std::vector<std::string>& argv);

/// Deletes the kept tunings of these algorithms and variants, or of all if none is named.
exit_code forget_tunings(const std::vector<std::string>& selectors, bool json);

/// What is printed about the tunings of one problem.
struct tuning_outcome {
  const lab::tuning_case* what;
  std::optional<registry::tuned> found;     // none if nothing could be measured or there is no choice
  std::optional<lab::race_result> raced{};  // none if it was found earlier
};

/// A block about one problem. Of the tunings that lost, it shows the fastest few, or all with `all`.
std::string tuning_block(const tuning_outcome& told, bool all);
nlohmann::ordered_json to_json(const tuning_outcome& told);

}  // namespace tilewise::cli
