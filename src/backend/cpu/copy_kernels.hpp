// SPDX-License-Identifier: Apache-2.0
// What copy_kernels.cpp provides for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

namespace tilewise::backend::cpu {

TILEWISE_AT_EACH_LEVEL(void copy_streaming(char* to, const char* from, std::uint64_t bytes);)

/// memcpy past the caches.
inline void copy_streaming(instruction_set level, char* to, const char* from, std::uint64_t bytes) {
  TILEWISE_AT_LEVEL(level, copy_streaming)(to, from, bytes);
}

}  // namespace tilewise::backend::cpu
