// SPDX-License-Identifier: Apache-2.0
// What fma_kernels.cpp provides for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <tilewise/types.hpp>

namespace tilewise::backend::cpu {

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

}  // namespace tilewise::backend::cpu
