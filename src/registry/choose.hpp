// SPDX-License-Identifier: Apache-2.0
// Chooses the variant to run, from only the problem, the device and the caller's preferences.
#pragma once

#include "registry/catalog.hpp"
#include "registry/tuned.hpp"

namespace tilewise::registry {

struct preferences {
  std::string_view variant = {};  // a name such as "lookback", a label or an id; empty: choose
  std::string_view tuning = {};
  bool fast = false;            // also allow variants that do not follow the order
  bool allow_unstable = false;  // compute even what the descriptor calls inadvisable
};

struct choice {
  const registry::variant* variant;
  registry::tuning tuning;
  std::string reason;                        // a sentence that says why this variant
  const registry::tuned* applied = nullptr;  // the measured tuning that was used, if any
};

/// Chooses the first variant in the catalog's order that follows the order of results, supports the problem and does
/// not yield to a later variant.
/// Throws `unsupported`, with each candidate's reason, if there is none, or if the variant that the caller forces does
/// not support the problem: that is never replaced by another.
choice choose(const problem& p, const backend::device& on, const preferences& wanted = {});

/// The same without the reason, for calls, which do not print it: writing it takes longer than choosing.
choice choose_silently(const problem& p, const backend::device& on, const preferences& wanted = {});

/// Why `v` cannot run the problem on this device at this tuning: backend, type, numerics, then the variant's own
/// limits. Empty if it can.
std::string unsupported_reason(const variant& v, const problem& p, const backend::device& on, const tuning& t);

}  // namespace tilewise::registry
