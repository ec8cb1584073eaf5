// SPDX-License-Identifier: Apache-2.0
// Tunings that were measured to be fastest here, what calls get of them that ask for none, and how they are kept: in
// one entry of the private cache folder, with a line for each problem.
#pragma once

#include "registry/variant.hpp"

#include <span>

namespace tilewise::registry {

/// A problem, and which of a variant's tunings a device computes it fastest with.
struct tuned {
  std::string device;  // key_of_device
  const registry::variant* by = nullptr;
  registry::problem problem;  // as it was measured, but for its numbers
  registry::tuning best;      // the default, if no other is surely faster
  bool is_applied = false;    // calls get it; else it is only kept
  std::string time_utc;       // "2026-11-23T20:10:00Z"
  double default_ns = 0;
  double gain = 1, gain_lo = 1, gain_hi = 1;  // the default's time over the best one's, with its 95 % interval

  bool is_default() const { return best == default_tuning(by->tuning); }
  /// Whether it holds for this problem too: for one of the same type and settings, and of the same size class.
  bool holds_for(const registry::variant& v, const registry::problem& p) const;
};

/// Each size as the power of 4 that it is nearest to: k for sizes from half of 4^k to less than twice it, 0 for 0. What
/// is fastest changes with the caches and the number of tiles, which are powers of 2 or far apart; a class of four
/// times its smallest size is as coarse as that allows, and a power of two that was measured lies within its class.
extents size_class(const extents& shape);

/// The same for devices that differ in their number only, and another once hardware, driver or threads change.
std::string key_of_device(const device_info& info);

/// The entry that holds for the problem on this device, or null.
const tuned* find_tuned(std::span<const tuned> among, const variant& v, const problem& p, const device_info& on);

struct starting_tuning {
  tuning values;
  const tuned* applied = nullptr;  // where they come from; null: the default
};
/// For a call that asks for no tuning: what was applied for such problems on this device, if the variant can run it so,
/// else the default. What is kept is read once in each process; where nothing is applied, this looks at nothing.
starting_tuning tuning_to_start_with(const variant& v, const problem& p, const backend::device& on);

struct kept_tunings {
  std::vector<tuned> all;
  std::string fault;  // why what is kept cannot be used; empty if nothing is kept
};
/// Creates no folder. What this build has no variant or tuning for is left out.
kept_tunings read_tunings();

/// In place of what was kept. False if there is no private folder, or no room in it.
bool write_tunings(std::span<const tuned> all);

/// Whether there is a private folder to keep them in; created if missing.
bool can_keep_tunings();

/// The entry's text and its inverse.
std::string to_text(std::span<const tuned> all);
kept_tunings tunings_from(std::string_view text);

}  // namespace tilewise::registry
