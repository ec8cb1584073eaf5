// What cpu_fma_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/cpu_device.hpp"

namespace tilewise::backend::cpu {

/// Chains of multiply-adds, `steps` long; returns how many operations they were. Reads a and b from `operands` and
/// leaves the sum of the chains there.
using chains_function = double (*)(std::uint64_t steps, void* operands);

/// One for each dtype.
struct chain_kernels {
  chains_function of[6];
};

// clang-format off
namespace v2 { extern const chain_kernels chains; }
namespace v3 { extern const chain_kernels chains; }
namespace v4 { extern const chain_kernels chains; }
// clang-format on

inline chains_function chains_of(instruction_set level, dtype type) {
  return at_level(level, v2::chains, v3::chains, v4::chains).of[static_cast<unsigned>(type)];
}

}  // namespace tilewise::backend::cpu
