// SPDX-License-Identifier: Apache-2.0
// What to tune: variants that were named, or those that each device would choose, at some problems.
#pragma once

#include "lab/plan/request.hpp"
#include "lab/tune/race.hpp"

namespace tilewise::lab {

/// A variant by its name, or an algorithm, of which each device chooses one.
struct tunable {
  const registry::algorithm* what;
  const registry::variant* by;  // null: as the device chooses
};
/// Throws `invalid_argument`, with the nearest names, for what is neither an algorithm nor a variant.
std::vector<tunable> tunables_called(const std::string& name);

/// A case for each device and problem of the request's selectors, with all tunings that can run there, those first that
/// differ from the default in the fewest axes; only one where there is nothing to choose. Throws `unsupported` if no
/// device of them runs any, or for a group, whose ranks must agree, and `invalid_argument` for problems without an
/// answer.
std::vector<tuning_case> make_tuning_plan(const request& wanted);

}  // namespace tilewise::lab
