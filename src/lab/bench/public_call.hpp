// SPDX-License-Identifier: Apache-2.0
// The library's public functions as rows: what a user's call on a host array costs, including checks and the choice.
#pragma once

#include "registry/variant.hpp"

#include <vector>

namespace tilewise::lab {

/// Up to this size the cost of the call itself may show; above it a separate row would say nothing new.
inline constexpr std::uint64_t largest_public_call = 65536;

/// "reduce/cpu:call" and "scan/cpu:call".
const std::vector<registry::variant>& public_calls();
bool is_public_call(const registry::variant& v);

}  // namespace tilewise::lab
