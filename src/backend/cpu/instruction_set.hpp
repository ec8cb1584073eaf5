// SPDX-License-Identifier: Apache-2.0
// The processor, as far as kernels ask: the x86-64 levels that they are built for, which all return the same bits.
#pragma once

#include <cstdint>

namespace tilewise::backend::cpu {

enum class instruction_set : std::uint8_t { v2, v3, v4 };

/// Of this build and this machine. Throws `unsupported` if there is none.
instruction_set best_instruction_set();

/// Whether this processor reads memory faster with prefetching well ahead. Zen 5's own prefetching stops at every
/// page: reading 64 MB on one of its cores went from 24 to 37 GB/s with 8 KB ahead, and to 33 with 2 KB. On Zen 4,
/// two cores lost a tenth to a third this way.
bool gains_by_fetching();

}  // namespace tilewise::backend::cpu
