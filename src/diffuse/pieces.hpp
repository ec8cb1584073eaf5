// SPDX-License-Identifier: Apache-2.0
// Fields on the host that pass through a device in bands of rows, several steps at a time.
#pragma once

#include "registry/pieces.hpp"

namespace tilewise::impl::diffuse {

/// Whether the device has room for the field, the result and a workspace.
bool fits(const registry::problem& p, const device_info& on);

/// How many steps, at most, one pass of a field that does not fit takes; no problem has fewer than one.
std::uint64_t steps_of_a_pass(const registry::problem& p, const device_info& on);

extern const registry::division division;

}  // namespace tilewise::impl::diffuse
