// SPDX-License-Identifier: Apache-2.0
// What read_kernels.cpp provides for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

namespace tilewise::backend::cpu {

TILEWISE_AT_EACH_LEVEL(std::uint64_t read_again(const char* from, std::uint64_t bytes, std::uint64_t passes);)

/// Reads so many bytes again in each pass, without those after the last whole 512; returns what depends on all of them.
inline std::uint64_t read_again(instruction_set level, const char* from, std::uint64_t bytes, std::uint64_t passes) {
  return TILEWISE_AT_LEVEL(level, read_again)(from, bytes, passes);
}

}  // namespace tilewise::backend::cpu
