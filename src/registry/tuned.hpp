// SPDX-License-Identifier: Apache-2.0
// The tunings that were measured to be fastest on this machine. Calls that ask for no tuning use them. They are kept in
// one entry of the private cache folder, with one line per problem.
#pragma once

#include "registry/variant.hpp"

#include <span>

namespace tilewise::registry {

/// A problem, and the tuning with which a variant computes it fastest on a device.
struct tuned {
  std::string device;  // key_of_device
  const registry::variant* by = nullptr;
  registry::problem problem;  // as measured, without its numbers
  registry::tuning best;      // the default unless another is significantly faster
  bool is_applied = false;    // whether calls use it; otherwise it is only stored
  std::string time_utc;       // "2026-11-23T20:10:00Z"
  double default_ns = 0;
  double gain = 1, gain_lo = 1, gain_hi = 1;  // default's time / best time, with the 95 % interval

  bool is_default() const { return best == default_tuning(by->tuning); }
  /// Whether it also applies to problem `p`: same variant, type, settings and size class.
  bool holds_for(const registry::variant& v, const registry::problem& p) const;
};

/// The nearest power of 4 of each size: k for sizes in [4^k / 2, 4^k * 2), 0 for 0. The fastest tuning changes with the
/// caches and with the number of tiles, which are powers of 2 or far apart. A range of a factor of 4 is as coarse as
/// that allows, and each power of two lies inside its class.
extents size_class(const extents& shape);

/// A key for the device's hardware, driver and threads. Devices that differ only in their number have the same key.
std::string key_of_device(const device_info& info);

/// The entry that applies to the problem on this device, or null.
const tuned* find_tuned(std::span<const tuned> among, const variant& v, const problem& p, const device_info& on);

struct starting_tuning {
  tuning values;
  const tuned* applied = nullptr;  // the entry they come from; null: the default
};
/// The tuning for a call that asks for none: the applied entry for such problems on this device if the variant supports
/// it, else the default. The stored tunings are read once per process. If none is applied, this returns at once.
starting_tuning tuning_to_start_with(const variant& v, const problem& p, const backend::device& on);

struct kept_tunings {
  std::vector<tuned> all;
  std::string fault;  // why the stored tunings cannot be used; empty if they can, or if none are stored
};
/// Reads the stored tunings; does not create the folder. Skips entries whose variant or tuning this build does not
/// have.
kept_tunings read_tunings();

/// Replaces the stored tunings. False if there is no private folder or no room in it.
bool write_tunings(std::span<const tuned> all);

/// Whether there is a private folder for them; creates it if missing.
bool can_keep_tunings();

/// The entry's text and its inverse.
std::string to_text(std::span<const tuned> all);
kept_tunings tunings_from(std::string_view text);

}  // namespace tilewise::registry
