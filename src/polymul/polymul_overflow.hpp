// Whether a product of integers fits 64 bits: by a bound, and where that does not decide, exactly.
#pragma once

#include "backend/backend.hpp"
#include "registry/problem.hpp"

namespace tilewise::impl::polymul {

/// The largest magnitudes of both factors tell that no coefficient can pass 63 bits.
bool bound_decides(std::uint64_t largest_a, std::uint64_t largest_b, std::uint64_t shorter);

/// Throws `overflow`, naming the first coefficient that does not fit, unless c is the product of a and b. They are host
/// data of p's type and shape, c is what a variant made of them without a modulus. Where the bound does not decide, the
/// product is computed by moduli whose product no difference can reach.
void require_exact(const registry::problem& p, const void* a, const void* b, const std::int64_t* c,
                   backend::device& on);

}  // namespace tilewise::impl::polymul
