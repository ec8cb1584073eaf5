// SPDX-License-Identifier: Apache-2.0
// The most that a device can do, measured in the same rounds: its own plain copy, to which bandwidth is compared, and
// its multiply-adds, for work bound by arithmetic. What bounds a problem is the one that needs longer for its
// compulsory bytes and its counted operations: the smaller roof of Williams, Waterman and Patterson (2009).
#pragma once

#include "record/record.hpp"

#include <vector>

namespace tilewise::lab {

using record::ceiling;

/// What its operations are done with at most, by its order (docs/order.md). None where they are comparisons.
std::optional<ceiling> arithmetic_of(const registry::algorithm& what);

/// What may bound it, in the order of measuring. A copy of an input says little of a product of matrices, whose output
/// may be any size; arithmetic bounds nothing that does less than one operation for each byte.
std::vector<ceiling> ceilings_of(const registry::problem& p);

/// Bytes that a copy of the problem's first input moves: each read once and written once.
double copied_bytes(const registry::problem& p);

/// What is claimed about a case's speed.
struct claimed_speed {
  registry::claim order;
  ceiling bound_by;
  double share_of_ceiling;
  std::uint64_t cache_bytes;  // of the device; 0: unknown
};

/// Whether that can be true. A cache that allocates on write moves a written line twice, so a copy of n bytes may cost
/// the memory 3 n where 2 n are counted, and work that only reads may beat it by half. 5 % is allowed for noise. What
/// fits in the last-level cache is not judged by a copy: there the call takes longer than moving the bytes. A variant
/// with its own order is not judged by the multiply-adds: it may compute on another unit, such as TF32.
bool is_plausible(const registry::problem& p, const claimed_speed& what);

}  // namespace tilewise::lab
