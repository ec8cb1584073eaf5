// SPDX-License-Identifier: Apache-2.0
// The floating-point probe: checks whether a device's arithmetic does what the order requires.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::backend {

/// Runs small kernels on the device and compares every result with the host's, bit for bit. Returns one sentence for
/// each promise of the order that fails on the device; empty if all hold. A faulty driver may crash or hang it: call it
/// in a child process with a time limit.
std::vector<std::string> probe(queue& on);

}  // namespace tilewise::backend
