// SPDX-License-Identifier: Apache-2.0
// What copy_kernels.cpp, fma_kernels.cpp and read_kernels.cpp provide for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

namespace tilewise::backend::cpu {

TILEWISE_AT_EACH_LEVEL(void copy_streaming(char* to, const char* from, std::uint64_t bytes);)

/// memcpy past the caches.
inline void copy_streaming(instruction_set level, char* to, const char* from, std::uint64_t bytes) {
  TILEWISE_AT_LEVEL(level, copy_streaming)(to, from, bytes);
}

/// Chains of multiply-adds, `steps` long; returns the number of operations. Reads a and b from `operands` and
/// leaves the sum of the chains there.
using chains_function = double (*)(std::uint64_t steps, void* operands);

/// One for each dtype.
struct chain_kernels {
  chains_function fused[6];
  chains_function apart[6];  // product and sum rounded each
};

TILEWISE_AT_EACH_LEVEL(extern const chain_kernels chains;)

inline const chain_kernels& chains_of(instruction_set level) { return TILEWISE_AT_LEVEL(level, chains); }

TILEWISE_AT_EACH_LEVEL(std::uint64_t read_again(const char* from, std::uint64_t bytes, std::uint64_t passes);)

/// Reads so many bytes again in each pass, without those after the last whole 512; returns what depends on all of them.
inline std::uint64_t read_again(instruction_set level, const char* from, std::uint64_t bytes, std::uint64_t passes) {
  return TILEWISE_AT_LEVEL(level, read_again)(from, bytes, passes);
}

}  // namespace tilewise::backend::cpu
