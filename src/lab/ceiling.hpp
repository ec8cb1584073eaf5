// What a device can do at most, measured in the same rounds: its own plain copy, which bandwidth is held against, and
// its multiply-adds, for what is bound by arithmetic.
#pragma once

#include "record/words.hpp"

namespace tilewise::lab {

using record::ceiling;
/// Of what tells its speed in this unit.
ceiling ceiling_of(registry::speed_unit unit);

/// Bytes that a copy of the problem's first input moves: each read once and written once.
double copied_bytes(const registry::problem& p);

/// What is said of a case's speed.
struct claimed_speed {
  registry::claim order;
  double share_of_ceiling;
  std::uint64_t cache_bytes;  // of the device; 0: not known
};

/// Whether that can be true. A cache that allocates on write moves a written line twice, so a copy of n bytes may cost
/// the memory 3 n where 2 n are counted, and work that only reads may pass it by half. 5 % are left for noise. What
/// fits the last-level cache is not judged by a copy: there the call of one takes longer than its bytes. What has an
/// order of its own is not judged by the multiply-adds: it may compute on another unit, such as TF32.
bool is_plausible(const registry::problem& p, const claimed_speed& what);

}  // namespace tilewise::lab
