// SPDX-License-Identifier: Apache-2.0
// `bench --isolate`: each group is measured by a child process, so that what crashes, hangs or loses its device is one
// row's failure. Drivers are opened in the children alone.
#pragma once

#include "tool/bench/output.hpp"

#include <string>
#include <vector>

namespace tilewise::cli {

/// A child measures `time_limit_s` seconds at most without a step forward; 0 is no limit.
exit_code bench_isolated(const bench_outputs& asked, const std::vector<std::string>& argv, unsigned time_limit_s);

}  // namespace tilewise::cli
