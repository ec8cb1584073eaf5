// SPDX-License-Identifier: Apache-2.0
// Whether a group fits, before its memory is allocated.
#pragma once

#include "lab/bench/group.hpp"
#include "lab/bench/measuring.hpp"

namespace tilewise::lab {

/// Why the group does not fit in the memory of its host or device with a tenth left free; empty if it does.
std::string memory_shortage(const group& what, const measuring& how);

}  // namespace tilewise::lab
