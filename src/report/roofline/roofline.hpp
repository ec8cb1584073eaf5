// SPDX-License-Identifier: Apache-2.0
// The roofline model of Williams, Waterman and Patterson (Roofline: an insightful visual performance model for
// multicore architectures, Communications of the ACM 52(4), 2009): a computation with I operations per byte moved
// reaches at most min(arithmetic, I x bandwidth). The bandwidth is that of the memory level in which the data fit, as
// in the cache-aware model of Ilic, Pratas and Sousa (Cache-aware roofline model: upgrading the loft, IEEE Computer
// Architecture Letters 13(1), 2014). All roofs are measured on the device. Bytes are the compulsory ones, and
// operations are those of the definition, as each algorithm's README states them.
#pragma once

#include "report/model.hpp"

#include <span>
#include <string>
#include <vector>

namespace tilewise::report {

/// The size of a working set, and the speed at which it was moved.
struct reading {
  double bytes, bytes_per_s;
};

/// Working sets of `from` to `to` bytes are read at one speed: they fit the same cache, or no cache.
struct memory_level {
  double from, to, bytes_per_s;
};

/// Finds the memory levels. A level is a run of successive sizes, the last at least double the first, whose speeds lie
/// within 15 % of the fastest of them. The longest run is taken first, then the others to its left and right.
/// Neighbours whose medians differ by less than 15 % are joined. A level slower than a later one is dropped: there a
/// call takes longer than the reading. `by_size` must be ascending. The last level is the memory, if working sets
/// larger than all caches were read.
std::vector<memory_level> levels_of(std::span<const reading> by_size);

/// The highest speed at which a working set can be read. Within a level, that is the level's speed. Between two levels,
/// where part of the set is still in the faster one, and beyond the last level, it is the fastest speed among the next
/// smaller working set and all larger ones. `by_size` must not be empty.
double speed_for(double bytes, std::span<const reading> by_size, std::span<const memory_level> levels);

struct arithmetic_roof {
  std::string_view dtype;
  record::ceiling by;  // fma or muladd
  double per_s;        // operations
  bool is_sure;        // whether its time can be trusted
};

/// If something was measured more than once, the fastest counts, since a limit is what the device can do.
struct device_roofs {
  std::vector<reading> readings;     // the device's speed of reading, by size
  std::vector<memory_level> levels;  // found among the readings
  std::vector<reading> copies;       // its own copies, by size; only those that can be trusted, unless none can
  bool are_copies_sure = false;
  double fastest_copy = 0;           // bytes/s; 0 without copies
  double fastest_beyond_caches = 0;  // of the copies that no cache is known to hold
  std::vector<arithmetic_roof> arithmetic;
  std::optional<double> launch_ns;  // of an empty kernel, or of a faster one; none on a CPU
};

/// One problem on one device, with the fastest of our variants.
struct roofline_point {
  const panel* of;  // the problem; null if there is only a row
  const row* what;
  double intensity;              // counted operations per compulsory byte
  std::optional<double> memory;  // bytes/s
  record::ceiling memory_by = record::ceiling::copy;
  bool writes_like_copy = true;      // it writes a third of its bytes or more; unknown without a copy of its own
  std::optional<double> arithmetic;  // operations/s; none where the operations are comparisons
  record::ceiling arithmetic_by = record::ceiling::fma;
  bool is_memory_sure = true, is_arithmetic_sure = true;  // whether the roof's time can be trusted
  std::optional<double> launch_ns{};                      // no kernel of the device takes less

  /// The operations per byte from which arithmetic is the limit: the ridge point. None unless both roofs are known.
  std::optional<double> balance() const;
  bool has_limit() const { return memory || arithmetic; }
  /// Whether memory is the smaller of the roofs that were measured.
  bool is_memory_bound() const;
  /// Whether the problem is so small that a launch takes longer than its bytes and operations.
  bool is_launch_bound() const { return launch_ns && has_limit() && *launch_ns > work_ns(); }
  record::ceiling bound_by() const {
    return is_launch_bound() ? record::ceiling::launch : is_memory_bound() ? memory_by : arithmetic_by;
  }
  bool has_sure_limit() const { return is_launch_bound() || (is_memory_bound() ? is_memory_sure : is_arithmetic_sure); }
  double work_ns() const;  // time for its bytes or its operations at the roof that bounds them
  double limit_ns() const { return is_launch_bound() ? *launch_ns : work_ns(); }
  double reached() const { return what->operations / what->kernel->median * 1e9; }  // operations/s
  /// Whether it can be drawn in the chart.
  bool is_drawn() const { return memory && arithmetic && intensity > 0; }
  double share() const { return limit_ns() / what->kernel->median; }
  /// Whether it exceeds its limit by more than the 5 % allowed for noise.
  bool is_implausible() const { return has_limit() && share() > 1.05; }
};

struct roofline {
  std::string machine, device, hardware;
  device_roofs roofs;
  std::vector<roofline_point> points;  // by algorithm, then size
};

/// One roofline for each device of each machine that has limits or kernel times, in the order of appearance. A
/// problem's memory roof is the fastest copy that was measured in turns with it. It is the device's reading speed if
/// that is faster, unless the problem writes a third or more of its bytes to memory beyond all caches, as scans and
/// sorts do. Its arithmetic roof is the device's, for its type or for integers of its width, of the kind that its order
/// allows. A method that needs fewer operations than are counted has no arithmetic roof.
std::vector<roofline> rooflines(const model& m);

/// Compares each kernel's time with the same roofs, so that a problem has one share of one limit everywhere. Whole
/// jobs, kernels on cold caches, and rows that no roof bounds keep the limits of their records.
void hold_against_roofs(row_table& rows);

/// The largest problem of each algorithm and type.
std::vector<const roofline_point*> largest_points(const roofline& of);

/// Why a share above 105 % is possible. Empty for a smaller share.
std::string why_implausible(const roofline& of, const roofline_point& at);

}  // namespace tilewise::report
