// SPDX-License-Identifier: Apache-2.0
// Records from files that a user names.
#pragma once

#include "report/model.hpp"

#include <functional>
#include <span>
#include <string>

namespace tilewise::cli {

/// One file after the other. What is left out of them is said on standard error, at the end. Throws `io` for a file
/// that cannot be read.
void take_records(std::span<const std::string> files, const std::function<void(const record::result&)>& take);
report::row_table read_rows(std::span<const std::string> files);

}  // namespace tilewise::cli
