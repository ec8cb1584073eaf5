// SPDX-License-Identifier: Apache-2.0
// The kernels of copy_kernels.cpp, fma_kernels.cpp and read_kernels.cpp, one version per x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

namespace tilewise::backend::cpu {

TILEWISE_AT_EACH_LEVEL(void copy_streaming(char* to, const char* from, std::uint64_t bytes);)

/// Like memcpy, but writes past the caches.
inline void copy_streaming(instruction_set level, char* to, const char* from, std::uint64_t bytes) {
  TILEWISE_AT_LEVEL(level, copy_streaming)(to, from, bytes);
}

/// Runs chains of multiply-adds of length `steps`; returns the number of operations. Reads a and b from `operands` and
/// writes the sum of the chains there.
using chains_function = double (*)(std::uint64_t steps, void* operands);

/// One function for each dtype.
struct chain_kernels {
  chains_function fused[6];
  chains_function apart[6];  // product and sum rounded separately
};

TILEWISE_AT_EACH_LEVEL(extern const chain_kernels chains;)

inline const chain_kernels& chains_of(instruction_set level) { return TILEWISE_AT_LEVEL(level, chains); }

TILEWISE_AT_EACH_LEVEL(std::uint64_t read_again(const char* from, std::uint64_t bytes, std::uint64_t passes);)

/// Reads `bytes`, rounded down to a multiple of 512, in each pass. Returns a value that depends on all of them, so that
/// the compiler keeps the reads.
inline std::uint64_t read_again(instruction_set level, const char* from, std::uint64_t bytes, std::uint64_t passes) {
  return TILEWISE_AT_LEVEL(level, read_again)(from, bytes, passes);
}

}  // namespace tilewise::backend::cpu
