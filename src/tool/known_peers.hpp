// SPDX-License-Identifier: Apache-2.0
// Other people's algorithms as rows beside ours, if this build has them.
#pragma once

#include "lab/jobs/job.hpp"

namespace tilewise::cli {

/// Adds the peers to the registry, once. Returns whether this build has any.
bool add_known_peers();

/// The copies that peers use in whole jobs.
lab::plain_copies_of plain_copies_of_peers();

}  // namespace tilewise::cli
