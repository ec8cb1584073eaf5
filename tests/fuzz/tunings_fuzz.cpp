// SPDX-License-Identifier: Apache-2.0
// Any bytes give either kept tunings that are the same after they are written and read again, or a reported fault.
#include "fuzz.hpp"
#include "registry/tuned.hpp"

using namespace tilewise;

TILEWISE_FUZZ_TARGET {
  const registry::kept_tunings kept = registry::tunings_from(text);
  fuzz::require(kept.fault.empty() || kept.all.empty(), "what is at fault is not used", kept.fault);
  if (!kept.fault.empty()) return;
  const std::string written = registry::to_text(kept.all);
  const registry::kept_tunings again = registry::tunings_from(written);
  fuzz::require(again.fault.empty() && again.all.size() == kept.all.size() && registry::to_text(again.all) == written,
                "tunings are read as they were written", written);
  for (const registry::tuned& t : kept.all)
    fuzz::require(t.by != nullptr && t.problem.what != nullptr && t.default_ns > 0 && t.gain > 0,
                  "a tuning belongs to a variant", written);
}
