// SPDX-License-Identifier: Apache-2.0
// The levels of a device's memory, found from how fast it reads working sets of many sizes.
#pragma once

#include <span>
#include <vector>

namespace tilewise::report {

/// A working set, and the speed at which it is moved.
struct reading {
  double bytes, bytes_per_s;
};

/// Working sets of `from` to `to` bytes are read at one speed: they fit the same cache, or none.
struct memory_level {
  double from, to, bytes_per_s;
};

/// A level is a run of successive sizes, from one to its double at least, whose speeds lie within 15 % of the fastest
/// of them. The longest run is the first, and the others are found to its left and right. Neighbours whose medians
/// differ by less than 15 % are one level, and one that is slower than a later one is none: there a call takes longer
/// than reading. `by_size`: ascending. The last level is the memory, if working sets beyond all caches were read.
std::vector<memory_level> levels_of(std::span<const reading> by_size);

/// The most at which a working set can be read: the speed of its level. Between two levels, where a part of it is still
/// in the faster one, and beyond the last, the fastest among the next smaller working set and all larger ones: what is
/// smaller is read as fast. `by_size` is not empty.
double speed_for(double bytes, std::span<const reading> by_size, std::span<const memory_level> levels);

}  // namespace tilewise::report
