// SPDX-License-Identifier: Apache-2.0
// What `tilewise tune` keeps: one entry of the private cache folder, with a line for each problem.
#pragma once

#include "registry/tuned.hpp"

namespace tilewise::registry {

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
