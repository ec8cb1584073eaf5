// SPDX-License-Identifier: Apache-2.0
// Calls of the CUDA runtime that fail when they are told to, of the program that links failing_cuda.cpp with --wrap.
#pragma once

#include "fault_source.hpp"

#include <vector>

namespace tilewise::tests {

/// Each call, once, with one of six codes.
std::vector<source> cuda_calls();

/// The device's memory and pinned memory, from some place on.
std::vector<source> cuda_memory();

}  // namespace tilewise::tests
