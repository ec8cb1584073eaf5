// SPDX-License-Identifier: Apache-2.0
// Whether a product of integers fits 64 bits: by a bound, and where that does not decide, exactly.
#pragma once

#include "registry/algorithm.hpp"

namespace tilewise::impl::polymul {

/// Whether the largest magnitudes of both factors show that no coefficient can exceed 63 bits.
bool bound_decides(std::uint64_t largest_a, std::uint64_t largest_b, std::uint64_t shorter);

/// The descriptor's proof, for integers without a modulus. Where the bound does not decide, the product is computed
/// again by moduli whose product no difference can reach. Throws `overflow`, naming the first coefficient that does not
/// fit.
extern const registry::proof no_overflow;

}  // namespace tilewise::impl::polymul
