// The device's own plain copy is the ceiling that bandwidth is held against, measured in the same rounds.
#pragma once

#include "registry/algorithm.hpp"

namespace tilewise::lab {

/// Bytes that a copy of the problem's first input moves: each read once and written once.
double copied_bytes(const registry::problem& p);

/// Whether a rate of compulsory bytes can be true that is this share of the copy's. A cache that allocates on
/// write moves a written line twice, so a copy of n bytes may cost the memory 3 n where 2 n are counted, and work that
/// only reads may pass it by half. 5 % are left for noise. What fits the last-level cache (0 bytes: not known) is not
/// judged: there the call of a copy takes longer than its bytes.
bool is_plausible(const registry::problem& p, double share_of_copy, std::uint64_t cache_bytes);

}  // namespace tilewise::lab
