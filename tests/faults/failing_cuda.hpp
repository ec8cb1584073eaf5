// SPDX-License-Identifier: Apache-2.0
// Makes calls of the CUDA runtime fail on demand, in a program that links failing_cuda.cpp with --wrap.
#pragma once

#include "fault_source.hpp"

#include <vector>

namespace tilewise::tests {

/// Each call fails once, with one of six codes.
std::vector<source> cuda_calls();

/// Allocations of device memory and of pinned memory fail from some point on.
std::vector<source> cuda_memory();

}  // namespace tilewise::tests
