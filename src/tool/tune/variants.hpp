// SPDX-License-Identifier: Apache-2.0
// `tilewise tune ALGORITHM`: races a variant's tunings, keeps what it found and, if asked, applies it.
#pragma once

#include "tool/problem_options.hpp"

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

/// What is kept of these algorithms and variants, or of all.
exit_code forget_tunings(const std::vector<std::string>& selectors, bool json);

}  // namespace tilewise::cli
