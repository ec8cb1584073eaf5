// SPDX-License-Identifier: Apache-2.0
// The roofline model of Williams, Waterman and Patterson (Roofline: an insightful visual performance model for
// multicore architectures, Communications of the ACM 52(4), 2009): what does I operations for each byte that it must
// move reaches at most min(arithmetic, I x bandwidth). The bandwidth is that of the memory in which the data fit, as in
// the cache-aware model of Ilic, Pratas and Sousa (Cache-aware roofline model: upgrading the loft, IEEE Computer
// Architecture Letters 13(1), 2014). All roofs are measured on the device; bytes are the compulsory ones and operations
// those of the definition, as each algorithm's README states them.
#pragma once

#include "report/model.hpp"

#include <span>
#include <string>
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

struct arithmetic_roof {
  std::string_view dtype;
  record::ceiling by;  // fma or muladd
  double per_s;        // operations
  bool is_sure;        // whether its time can be trusted
};

/// Of what was measured more than once the fastest counts, as a limit is what the device can do.
struct device_roofs {
  std::vector<reading> readings;     // the device's speed of reading, by size
  std::vector<memory_level> levels;  // found among them; none without them
  std::vector<reading> copies;       // its own copies, by size: those that can be trusted, or all if none can
  bool are_copies_sure = false;
  double fastest_copy = 0;           // bytes/s; 0 without copies
  double fastest_beyond_caches = 0;  // of those that no cache is known to hold
  std::vector<arithmetic_roof> arithmetic;
  std::optional<double> launch_ns;  // of a kernel that does nothing, or a shorter one's; none on a CPU
};

/// One problem on one device, by the fastest of our variants.
struct roofline_point {
  const panel* of;  // the problem; null of a row alone
  const row* what;
  double intensity;              // counted operations for each compulsory byte
  std::optional<double> memory;  // bytes/s
  record::ceiling memory_by = record::ceiling::copy;
  bool writes_like_copy = true;      // a third of its bytes or more; unknown without a copy of its own
  std::optional<double> arithmetic;  // operations/s; none where the operations are comparisons
  record::ceiling arithmetic_by = record::ceiling::fma;
  bool is_memory_sure = true, is_arithmetic_sure = true;  // whether the roof's time can be trusted
  std::optional<double> launch_ns{};                      // the device's: no kernel takes less

  /// Operations a byte from which on arithmetic bounds: the ridge point. None without both roofs.
  std::optional<double> balance() const;
  bool has_limit() const { return memory || arithmetic; }
  /// By the smaller roof, of those that were measured.
  bool is_memory_bound() const;
  /// So small that a call takes longer than its bytes and operations.
  bool is_launch_bound() const { return launch_ns && has_limit() && *launch_ns > work_ns(); }
  record::ceiling bound_by() const {
    return is_launch_bound() ? record::ceiling::launch : is_memory_bound() ? memory_by : arithmetic_by;
  }
  bool has_sure_limit() const { return is_launch_bound() || (is_memory_bound() ? is_memory_sure : is_arithmetic_sure); }
  double work_ns() const;  // of its bytes or its operations at the roof that bounds them
  double limit_ns() const { return is_launch_bound() ? *launch_ns : work_ns(); }
  double reached() const { return what->operations / what->kernel->median * 1e9; }  // operations/s
  /// Whether a chart has a place for it.
  bool is_drawn() const { return memory && arithmetic && intensity > 0; }
  double share() const { return limit_ns() / what->kernel->median; }
  /// Above 105 % of the limit: 5 % is allowed for noise.
  bool is_implausible() const { return has_limit() && share() > 1.05; }
};

struct roofline {
  std::string machine, device, hardware;
  device_roofs roofs;
  std::vector<roofline_point> points;  // by algorithm, then size
};

/// Of each device of each machine that has limits or times of kernels, by first appearance. A problem's roof of memory
/// is the fastest copy that was measured alternately with it, or the device's reading, if that is faster and it does
/// not itself write a third or more of its bytes to memory beyond all caches, as scans and sorts do. Its roof of
/// arithmetic is the device's on its type, or on integers of its width, of the kind that its order allows: a method
/// that needs fewer operations than are counted has none.
std::vector<roofline> rooflines(const model& m);

/// Holds the time of each kernel against the same roofs, so that a problem has one share of one limit wherever it is
/// told. Whole jobs, and kernels on cold caches, keep the limits of their records, as does what no roof bounds.
void hold_against_roofs(row_table& rows);

/// Of each algorithm and type the largest problem.
std::vector<const roofline_point*> largest_points(const roofline& of);

/// Why a share above 105 % may be. Empty below.
std::string why_implausible(const roofline& of, const roofline_point& at);

}  // namespace tilewise::report
