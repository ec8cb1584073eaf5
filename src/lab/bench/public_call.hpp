// SPDX-License-Identifier: Apache-2.0
// Makes rows of the library's public functions, to measure what a user's call on a host array costs, including checks
// and the choice of a variant.
#pragma once

#include "registry/variant.hpp"

#include <vector>

namespace tilewise::lab {

/// Rows for public calls are measured up to this size. Above it the overhead of the call no longer shows.
inline constexpr std::uint64_t largest_public_call = 65536;

/// "reduce/cpu:call" and "scan/cpu:call".
const std::vector<registry::variant>& public_calls();
bool is_public_call(const registry::variant& v);

}  // namespace tilewise::lab
