// SPDX-License-Identifier: Apache-2.0
// `bench --against`: another build of the tool beside this one, case by case, so that what disturbs the machine
// disturbs both alike.
#pragma once

#include "lab/bench/group.hpp"
#include "tool/exit_code.hpp"

#include <string>
#include <vector>

namespace tilewise::cli {

/// Each row of our own variants is measured in child processes by turns, by this tool and by `other`; the ratios of the
/// pairs are judged and printed; a slower row is a regression. `how` has the options that hold for all rows.
/// `max_time_s` is for one row; 0: a few seconds.
exit_code bench_against(const std::string& other, const std::vector<lab::group>& plan,
                        const std::vector<std::string>& how, double max_time_s);

}  // namespace tilewise::cli
