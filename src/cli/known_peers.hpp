// Other people's algorithms, as rows next to ours, if this build has them.
#pragma once

namespace tilewise::cli {

/// Adds the peers to the registry; does its work once.
void add_known_peers();

}  // namespace tilewise::cli
