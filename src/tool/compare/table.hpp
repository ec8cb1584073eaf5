// SPDX-License-Identifier: Apache-2.0
// What `compare` prints.
#pragma once

#include "report/compare/comparison.hpp"

#include <string>

namespace tilewise::cli {

/// What else differs, the cases by verdict in lines of at most 80 columns, and the counts with the mean ratio. Cases
/// that are the same or left out are only counted unless `all` are wanted.
std::string comparison_table(const report::comparison& of, bool all);

}  // namespace tilewise::cli
