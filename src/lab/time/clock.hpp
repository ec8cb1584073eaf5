// SPDX-License-Identifier: Apache-2.0
// The host's clock, and how fine it really is.
#pragma once

#include <cstdint>

namespace tilewise::lab {

/// Monotonic nanoseconds.
std::int64_t now_ns();

/// The smallest step of now_ns() seen on this machine, in nanoseconds, at least 1. Measured once.
std::int64_t clock_resolution_ns();

}  // namespace tilewise::lab
