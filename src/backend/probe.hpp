// SPDX-License-Identifier: Apache-2.0
// The floating-point probe: what a device's arithmetic really does, against what the order requires.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::backend {

/// Runs small kernels on the device and compares every result with the host's, bit for bit. One sentence for each
/// promise that the order cannot keep there; empty if all is well. May crash or hang with the driver: call it in a
/// child process with a time limit.
std::vector<std::string> probe(queue& on);

}  // namespace tilewise::backend
