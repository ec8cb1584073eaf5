// SPDX-License-Identifier: Apache-2.0
// `bench --isolate`: a child process measures each group, so that a crash, a hang or a lost device fails only one row.
// Only the children open drivers.
#pragma once

#include "tool/bench/output.hpp"

#include <string>
#include <vector>

namespace tilewise::cli {

/// Ends a child that makes no progress for `time_limit_s` seconds; 0 is no limit.
exit_code bench_isolated(const bench_outputs& asked, const std::vector<std::string>& argv, unsigned time_limit_s);

}  // namespace tilewise::cli
