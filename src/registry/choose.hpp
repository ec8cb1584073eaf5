// SPDX-License-Identifier: Apache-2.0
// Which variant runs: a pure function of the problem, the device and what the caller asked for.
#pragma once

#include "registry/catalog.hpp"
#include "registry/tuned.hpp"

namespace tilewise::registry {

struct preferences {
  std::string_view variant = {};  // a name such as "lookback", a label or an id; empty: choose
  std::string_view tuning = {};
  bool fast = false;            // variants with an order of their own are allowed too
  bool allow_unstable = false;  // what the descriptor calls inadvisable is computed all the same
};

struct choice {
  const registry::variant* variant;
  registry::tuning tuning;
  std::string reason;                        // a sentence: why this one
  const registry::tuned* applied = nullptr;  // where its tuning comes from, if one was applied
};

/// The first variant, in the catalog's order of preference, that claims the order, supports the problem and does not
/// yield it to a later one.
/// Throws `unsupported` with each candidate's reason if there is none, or if the forced one does not support the
/// problem; a forced variant is never replaced by another.
choice choose(const problem& p, const backend::device& on, const preferences& wanted = {});

/// The same without the reason, to put which into words takes longer than to choose: for calls, which tell nobody.
choice choose_silently(const problem& p, const backend::device& on, const preferences& wanted = {});

/// Why `v` cannot run the problem on this device at this tuning: backend, type, numerics, then the variant's own
/// limits. Empty if it can.
std::string unsupported_reason(const variant& v, const problem& p, const backend::device& on, const tuning& t);

}  // namespace tilewise::registry
